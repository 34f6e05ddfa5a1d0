import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  type CollectionsHost,
  type CollectionsHostOptions,
  collectionsHost,
} from '../../../support/collections-host.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

/** What the routes of restores promise, wherever the data of spaces is. `open` makes the place of a host. */
export function restoreRoutes(name: string, open: () => Promise<CollectionsHostOptions>): void {
  describe(`on ${name}`, () => {
    let host: CollectionsHost
    beforeAll(async () => {
      host = await collectionsHost(await open())
      for (const name of ['dev', 'prod']) await host.createSpace(name)
    })
    afterAll(() => host.close())

    const ids = async () => (await host.query('notes', {})).rows.slice(0, -1)

    async function backup(credential = host.bearer): Promise<Uint8Array<ArrayBuffer>> {
      const answer = await fetch(`${host.api}/spaces/dev/backup`, { headers: credential })
      expect(answer.status).toBe(200)
      return new Uint8Array(await answer.arrayBuffer())
    }

    const restore = (archive: Uint8Array<ArrayBuffer>, query: string, credential = host.bearer, space = 'dev') =>
      host.send(`/spaces/${space}/restore${query}`, {
        method: 'POST',
        headers: { ...credential, 'content-type': 'application/gzip' },
        body: archive,
      })

    const restored = async () => (await host.events('restored')).filter(({ outcome }) => outcome === 'success')

    const undo = (credential = host.bearer) => host.call('POST', '/restore/undo', undefined, credential)

    test('a restore is asked for by name, tells each step, and is undone within a day', async () => {
      await host.importText('notes', '{"_id":"a"}\n{"_id":"b"}\n')
      const archive = await backup()
      await host.importText('notes', '{"_id":"later"}\n')

      for (const query of ['', '?confirm=prod', '?confirm=dev,prod']) {
        const { status, body, rows } = await restore(archive, query)
        expect([status, body ?? rows.at(-1)]).toMatchObject(
          query === '?confirm=dev,prod'
            ? [200, { error: { code: 'invalid_request', status: 400 } }]
            : [400, { code: 'invalid_request' }],
        )
      }
      expect((await restore(archive, '?confirm=dev&verify=maybe')).body).toMatchObject({ code: 'invalid_request' })
      expect((await restore(archive, '?verify=true')).rows.at(-1)).toMatchObject({
        ...{ done: true, verifyOnly: true, collections: 1, documents: 2, undoUntil: null },
      })
      expect(await ids()).toHaveLength(3)

      const { status, rows } = await restore(archive, '?confirm=dev')
      expect(status).toBe(200)
      expect(rows).toEqual([
        { processed: 2, of: 2 },
        { step: 'checked', ms: expect.any(Number) },
        { step: 'started', ms: expect.any(Number) },
        {
          ...{ done: true, verifyOnly: false, collections: 1, documents: 2, pairs: 0, release: null },
          ...{ time: expect.stringMatching(/Z$/), undoUntil: expect.stringMatching(/Z$/), warnings: [] },
          setAgain: { environment: [], apiTokens: [] },
        },
      ])
      expect(await ids()).toEqual([{ _id: 'a' }, { _id: 'b' }])
      expect(await restored()).toMatchObject([{ detail: { space: 'dev', from: 'dev', foreign: false } }])

      expect((await undo()).rows).toEqual([{ done: true }])
      expect(await ids()).toHaveLength(3)
      expect((await undo()).rows).toEqual([{ done: true }])
      expect(await ids()).toHaveLength(2)
      expect((await host.call('POST', '/restore/undo', undefined, {})).status).toBe(401)
    })

    test('ATK-168 what is no archive is refused with its cause, and the data stays', async () => {
      const archive = await backup()
      for (const sent of [new Uint8Array(0), new Uint8Array([1, 2, 3]), archive.subarray(0, 200), gzipSync('no tar')]) {
        const { status, rows } = await restore(new Uint8Array(sent), '?confirm=dev')
        expect([status, rows]).toMatchObject([200, [{ error: { code: 'archive_invalid', status: 422 } }]])
      }
      expect(await ids()).toHaveLength(2)
      expect((await restore(archive, '?confirm=none', host.bearer, 'none')).body).toMatchObject({
        code: 'space_not_found',
      })
    })

    test('ATK-204 an admin token for restore brings data alone, and undoes it', async () => {
      const archive = await backup()
      const [token, both, other] = [
        await host.adminToken({ commands: ['restore'] }),
        await host.adminToken({ commands: ['restore', 'deploy'] }),
        await host.adminToken({ commands: ['backup'] }),
      ]
      const refused = { status: 403, body: { code: 'admin_token_not_for_this' } }
      for (const more of ['&settings=true', '&foreign=true', '&release=true']) {
        expect(await restore(archive, `?confirm=dev${more}`, token)).toMatchObject(refused)
      }
      for (const more of ['&settings=true', '&foreign=true']) {
        expect(await restore(archive, `?confirm=dev&verify=true${more}`, both)).toMatchObject(refused)
      }
      expect(await restore(archive, '?confirm=dev', other)).toMatchObject(refused)
      expect(await undo(other)).toMatchObject(refused)
      expect(await restore(archive, '?confirm=prod', token, 'prod')).toMatchObject({ status: 200 })
      const narrowed = await host.adminToken({ commands: ['restore'], spaces: ['prod'] })
      expect(await restore(archive, '?confirm=dev', narrowed)).toMatchObject(refused)

      // Nothing is deployed in this space: an archive without a release has none to bring.
      expect((await restore(archive, '?confirm=dev&release=true', both)).rows.at(-1)).toMatchObject({
        error: { code: 'archive_invalid' },
      })
      expect((await restore(archive, '?confirm=dev', token)).rows.at(-1)).toMatchObject({ done: true })
      expect((await undo(token)).rows).toEqual([{ done: true }])
      expect(await restored()).toMatchObject([
        { actor: { kind: 'adminToken' } },
        { actor: { kind: 'adminToken' } },
        {},
        {},
        {},
      ])
    })

    test('ATK-204 a restored digest of a removed API token lets nobody in', async () => {
      const { body } = await host.call('POST', '/tokens', { name: 'partner' })
      const { id, token } = body as { id: string; token: string }
      const archive = await backup()
      const ask = async () => (await fetch(`${host.base}/dev/none`, { headers: { 'x-apikey': token } })).status
      await host.call('DELETE', `/tokens/${id}`)
      expect((await restore(archive, '?confirm=dev&settings=true')).rows.at(-1)).toMatchObject({ done: true })
      expect((await host.call('GET', '/tokens')).body).toMatchObject({ items: [] })
      expect(await ask()).toBe(404)
    })

    test('a sign-in that is not recent restores nothing', async () => {
      const archive = await backup()
      await host.shift(11 * 60_000)
      try {
        for (const answer of [await restore(archive, '?confirm=dev'), await undo()]) {
          expect(answer).toMatchObject({ status: 403, body: { code: 'recent_login_required' } })
        }
      } finally {
        await host.shift(0)
      }
    })

    test('ATK-169 an application writes on while its space is restored, and then has the restored data', async () => {
      const [deployed] = (await host.deploy('friendly')).rows.slice(-1) as { release: number }[]
      const number = deployed?.release ?? 0
      const ask = async (verb: string, ...input: unknown[]) => {
        const answer = await fetch(`${host.base}/dev/open/store/${verb}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(input),
        })
        return { status: answer.status, text: await answer.text() }
      }
      const stored = async (id: string) => JSON.parse((await ask('findOneOrNull', 'written', { _id: id })).text).value
      expect(await ask('insertOne', 'written', { _id: 'before', n: 1 })).toMatchObject({ status: 200 })
      const archive = await backup()
      let isOver = false
      const outcomes: { id: string; status: number }[] = []
      const writing = (async () => {
        for (let n = 0; !isOver; n += 1) {
          const { status } = await ask('insertOne', 'written', { _id: `w${n}` })
          outcomes.push({ id: `w${n}`, status })
        }
      })()
      const { rows } = await restore(archive, '?confirm=dev')
      isOver = true
      await writing
      expect(rows.at(-1)).toMatchObject({ done: true, release: null })
      expect(await stored('before')).toMatchObject({ n: 1 })

      // Each write that was confirmed is in the generation that was in force then, whole.
      const lost = []
      for (const { id, status } of outcomes) if (status === 200 && (await stored(id)) === null) lost.push(id)
      expect((await undo()).rows).toEqual([{ done: true }])
      for (const id of lost) expect(await stored(id)).toMatchObject({ _id: id })
      expect(await ask('insertOne', 'written', { _id: 'after' })).toMatchObject({ status: 200 })

      const released = await restore(archive, '?confirm=dev&release=true')
      expect(released.rows.at(-1)).toMatchObject({
        done: true,
        release: number + 1,
        warnings: expect.arrayContaining([expect.stringContaining('orders never runs')]),
      })
      expect(released.rows).toContainEqual({ step: 'serving', ms: expect.any(Number) })
      expect(await stored('after')).toBeNull()
      expect((await host.call('GET', '/releases')).body).toMatchObject({
        items: [
          { number: number + 1, state: 'current' },
          { number, state: 'former' },
        ],
      })
    })

    test('ATK-238 a restore that is still being sent keeps nothing waiting, and gives way to what replaced the data', async () => {
      const archive = await backup()
      let go = () => {}
      const half = new Promise<void>((resolve) => {
        go = resolve
      })
      const slow = new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(archive.subarray(0, 100))
          await half
          controller.enqueue(archive.subarray(100))
          controller.close()
        },
      })
      const running = fetch(`${host.api}/spaces/dev/restore?confirm=dev`, {
        method: 'POST',
        headers: host.bearer,
        body: slow,
        duplex: 'half',
      } as RequestInit)
      expect((await host.call('GET', '')).body).toMatchObject({ busyWith: null })
      expect((await host.deploy('friendly')).rows.at(-1)).toMatchObject({ done: true })
      expect((await restore(archive, '?verify=true')).rows.at(-1)).toMatchObject({ done: true, verifyOnly: true })
      expect((await restore(archive, '?confirm=dev')).rows.at(-1)).toMatchObject({ done: true })
      go()
      expect(await (await running).text()).toContain('"code":"not_current"')
      expect((await undo()).rows.at(-1)).toMatchObject({ done: true })
      expect((await host.call('GET', '')).body).toMatchObject({ busyWith: null })
    })
  })
}
