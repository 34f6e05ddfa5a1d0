import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  type CollectionsHost,
  type CollectionsHostOptions,
  collectionsHost,
} from '../../../support/collections-host.js'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** What the routes of indexes promise, wherever the data of spaces is. `open` makes the place of a host. */
export function indexRoutes(name: string, open: () => Promise<CollectionsHostOptions>): void {
  describe(`on ${name}`, () => {
    let host: CollectionsHost
    beforeAll(async () => {
      const own = await open()
      host = await collectionsHost(own)
      for (const name of ['dev', 'prod']) await host.createSpace(name)
      const text = Array.from({ length: 1_500 }, (_, n) => `{"_id":"n${n}","n":${n},"half":${n >> 1}}\n`).join('')
      await host.importText('notes', text)
    })
    afterAll(() => host.close())

    const place = (collection: string) => `/collections/${collection}/indexes`
    const create = (collection: string, body: object, credential?: Record<string, string>) =>
      host.call('POST', place(collection), body, credential)
    const remove = (collection: string, body: object, credential?: Record<string, string>) =>
      host.call('DELETE', place(collection), body, credential)
    const indexesOf = async (collection: string) => {
      const { body } = await host.call('GET', '/collections')
      return (body as { name: string; indexes: unknown }[]).find(({ name }) => name === collection)?.indexes
    }
    const refused = (code: string, status: number) => ({ status, body: { code } })

    test('builds an index of each field with its progress, lists them, and removes them by name', async () => {
      const { status, rows } = await create('notes', { fields: ['n', 'half'] })
      expect(status).toBe(200)
      expect(rows.at(-1)).toEqual({ finished: true })
      expect(rows).toContainEqual({ processed: 1_500, of: 1_500, field: 'n' })
      expect(rows).toContainEqual({ processed: 1_500, of: 1_500, field: 'half' })
      const ready = { isUnique: false, state: 'ready' }
      expect(await indexesOf('notes')).toEqual([
        { field: 'half', ...ready },
        { field: 'n', ...ready },
      ])
      expect(await create('notes', { fields: ['n'] })).toMatchObject(refused('index_exists', 409))
      expect(await create('notes', { fields: ['n'], unique: true })).toMatchObject(refused('index_exists', 409))
      expect((await create('notes', { fields: ['n', 'other'] })).rows.at(-1)).toEqual({ finished: true })

      expect(await remove('notes', { fields: ['n'] })).toMatchObject(refused('invalid_request', 400))
      expect(await remove('notes', { fields: ['n'], confirm: 'half' })).toMatchObject(refused('invalid_request', 400))
      for (const field of ['n', 'other'])
        expect((await remove('notes', { fields: [field], confirm: field })).status).toBe(204)
      expect(await remove('notes', { fields: ['n'], confirm: 'n' })).toMatchObject(refused('not_found', 404))
      expect(await indexesOf('notes')).toEqual([{ field: 'half', ...ready }])
      expect(await host.events('index_created')).toMatchObject(
        ['other', 'half', 'n'].map((field) => ({
          outcome: 'success',
          detail: { collection: 'notes', field, unique: false },
        })),
      )
      expect(await host.events('index_removed')).toMatchObject([
        { detail: { field: 'other' } },
        { detail: { field: 'n' } },
      ])
    })

    test('ATK-206 a unique index that finds duplicates ends with the problem, and is gone', async () => {
      const { rows } = await create('notes', { fields: 'half', unique: true })
      expect(rows).toEqual([])
      await host.importText('twice', '{"_id":"a","mail":"x"}\n{"_id":"b","mail":"x"}\n')
      const built = await create('twice', { fields: ['mail'], unique: true })
      expect(built.rows.at(-1)).toMatchObject({
        error: { code: 'query_invalid', detail: expect.stringContaining('mail') },
      })
      expect(await indexesOf('twice')).toEqual([])
      expect((await host.events('index_created'))[0]).toMatchObject({ outcome: 'failure', detail: { field: 'mail' } })
    })

    test('ATK-206 lines that a unique index refuses are faults, and the lines around them go in', async () => {
      await create('mails', { fields: ['mail'], unique: true })
      const { rows } = await host.importText(
        'mails',
        ['a', 'b', 'a', 'c', 'b'].map((mail) => `{"mail":"${mail}"}\n`).join(''),
      )
      expect(rows.at(-1)).toMatchObject({ finished: true, imported: 3, failed: [{ line: 3 }, { line: 5 }] })
      const update = await host.query('mails', { filter: { mail: 'c' }, update: { mail: 'a' } })
      expect(update).toMatchObject(refused('already_exists', 409))
    })

    test('refuses fields that none can index, hidden collections, and tokens for something else', async () => {
      for (const fields of [['_id'], [''], ['a.$b'], ['__proto__'], [], ['a'.repeat(300)]]) {
        expect(await create('notes', { fields })).toMatchObject(refused('query_invalid', 422))
      }
      expect(await create('notes', { fields: [{}] })).toMatchObject(refused('invalid_request', 400))
      expect(await create('latchkey_users', { fields: ['a'] })).toMatchObject(refused('not_found', 404))
      expect(await remove('latchkey_users', { fields: ['a'], confirm: 'a' })).toMatchObject(refused('not_found', 404))

      const creating = await host.adminToken({ commands: ['createindex'] })
      expect((await create('own', { fields: ['a'] }, creating)).status).toBe(200)
      const remaining = { fields: ['a'], confirm: 'a' }
      expect(await remove('own', remaining, creating)).toMatchObject(refused('admin_token_not_for_this', 403))
      const elsewhere = await host.adminToken({ spaces: ['prod'] })
      expect(await create('own', { fields: ['b'] }, elsewhere)).toMatchObject(refused('admin_token_not_for_this', 403))
      expect((await remove('own', remaining, await host.adminToken({ commands: ['removeindex'] }))).status).toBe(204)
    })

    test('a space builds one index at a time', async () => {
      const text = Array.from({ length: 6_000 }, (_, n) => `{"n":${n}}\n`).join('')
      await host.importText('large', text)
      const answers = await Promise.all([create('large', { fields: ['n'] }), create('large', { fields: ['m'] })])
      const codes = answers.map(({ status, body }) => (status === 200 ? 200 : (body as { code: string }).code))
      expect(codes.toSorted()).toEqual([200, 'space_busy'])
    })

    test('leaves the fields after one that fails without an index', async () => {
      await host.importText('pairs', '{"_id":"a","n":1,"same":1,"m":1}\n{"_id":"b","n":2,"same":1,"m":2}\n')
      const { rows } = await create('pairs', { fields: ['n', 'same', 'm'], unique: true })
      expect(rows.at(-1)).toMatchObject({ error: { code: 'query_invalid' } })
      expect(await indexesOf('pairs')).toEqual([{ field: 'n', isUnique: true, state: 'ready' }])
    })
  })
}
