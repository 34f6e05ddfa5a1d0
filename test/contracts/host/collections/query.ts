import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  type CollectionsHost,
  type CollectionsHostOptions,
  collectionsHost,
} from '../../../support/collections-host.js'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** What the query of documents promises, wherever the data of spaces is. `open` makes the place of a host. */
export function queryRoutes(name: string, open: () => Promise<CollectionsHostOptions>): void {
  describe(`on ${name}`, () => {
    let host: CollectionsHost
    beforeAll(async () => {
      host = await collectionsHost(await open())
      for (const name of ['dev', 'prod']) await host.createSpace(name)
    })
    afterAll(() => host.close())

    const lines = (count: number, of: (n: number) => object) =>
      Array.from({ length: count }, (_, n) => `${JSON.stringify(of(n))}\n`).join('')
    const refused = (code: string, status = 422) => ({ status, body: { code } })

    describe('a query that reads', () => {
      beforeAll(async () => {
        await host.importText(
          'notes',
          '{"_id":"a","n":1,"at":{"$date":"2026-01-31T12:00:00.000Z"}}\n{"_id":"b","n":2}\n',
        )
      })

      test('answers with rows in order, and with their count, while no application runs', async () => {
        const found = await host.query('notes', { filter: { n: { $lte: 2 } }, sort: { n: -1 }, fields: 'n' })
        expect(found.rows).toEqual([{ _id: 'b', n: 2 }, { _id: 'a', n: 1 }, { end: { count: 2 } }])
        expect((await host.query('notes', { reverse: true, limit: 1 })).rows).toMatchObject([{ _id: 'b' }, {}])
        expect((await host.query('notes', { offset: 1 })).rows).toMatchObject([{ _id: 'b' }, { end: { count: 1 } }])
        expect((await host.query('notes', { count: true })).rows).toEqual([{ end: { count: 2 } }])
        expect((await host.query('unknown', {})).rows).toEqual([{ end: { count: 0 } }])
        expect((await host.call('GET', '/collections')).body).toMatchObject([{ name: 'notes', count: 2 }])
      })

      test('reads from start to end of an index, in its order, also while the index is not made yet', async () => {
        const read = async (query: object) => (await host.query('notes', { useIndex: 'n', fields: 'n', ...query })).rows
        for (const made of [false, true]) {
          if (made) {
            const { status } = await host.call('POST', '/collections/notes/indexes', { fields: ['n'] })
            expect(status).toBe(200)
          }
          expect(await read({ start: 2 })).toMatchObject([{ n: 2 }, { end: { count: 1 } }])
          expect(await read({ end: 1, filter: { _id: 'a' } })).toMatchObject([{ n: 1 }, { end: { count: 1 } }])
          expect(await read({ start: 1, end: 2, reverse: true })).toMatchObject([{ n: 2 }, { n: 1 }, { end: {} }])
        }
        expect(await host.query('notes', { start: 1 })).toMatchObject(refused('query_invalid'))
      })

      test('keeps dates as they are stored, and finds them by $date', async () => {
        const at = { $date: '2026-01-31T12:00:00.000Z' }
        expect((await host.query('notes', { filter: { at } })).rows).toEqual([
          { _id: 'a', n: 1, at },
          { end: { count: 1 } },
        ])
      })

      test('takes its parts as texts of JSON too, as forms send them', async () => {
        const sent = { filter: '{"n":{"$gt":0}}', sort: '{"n":-1}', fields: '{"n":1}', count: 'false' }
        expect((await host.query('notes', sent)).rows).toMatchObject([{ n: 2 }, { n: 1 }, { end: {} }])
      })

      test('gives the rows of a large answer in their order', async () => {
        await host.importText(
          'many',
          lines(3_000, (n) => ({ _id: String(n).padStart(5, '0'), text: 'x'.repeat(100) })),
        )
        const { rows } = await host.query('many', {})
        expect(rows).toHaveLength(3_001)
        expect(rows[2_999]).toMatchObject({ _id: '02999' })
        expect(rows[3_000]).toEqual({ end: { count: 3_000 } })
      })

      test('ends with the problem when a fault comes after the first rows, and is a 422 before', async () => {
        await host.importText(
          'lists',
          lines(600, (n) => ({ _id: String(n).padStart(3, '0'), list: n < 599 ? [] : 'none' })),
        )
        const filter = { $expr: { $gte: [{ $size: '$list' }, 0] } }
        const { status, rows } = await host.query('lists', { filter })
        expect(status).toBe(200)
        expect(rows).toHaveLength(501)
        expect(rows.at(-1)).toMatchObject({ error: { code: 'query_invalid', status: 422 } })
        expect(await host.query('lists', { filter, reverse: true })).toMatchObject(refused('query_invalid'))
      })

      test('is refused before the first row when it cannot be run', async () => {
        for (const query of [
          { filter: { $where: 'this.n' } },
          { filter: { n: { $function: { body: 'x' } } } },
          { filter: { n: { $unknown: 1 } } },
          { filter: { n: { $regex: '(' } } },
          { filter: '{"__proto__":{"n":1}}' },
          { filter: `{"a":${'['.repeat(40)}${']'.repeat(40)}}` },
          { filter: '{' },
          { filter: [] },
          { filter: 'null', delete: true },
          { sort: { n: 2 } },
          { fields: 7 },
          { versions: true, fields: 'n' },
          { ifVersion: 1 },
          { update: { n: 1 } },
          { filter: {}, update: {}, delete: true },
          { filter: {}, update: { $unknown: { n: 1 } } },
          { filter: {}, replace: [] },
          { filter: {}, delete: true, count: true },
        ]) {
          expect([query, await host.query('notes', query)]).toMatchObject([query, refused('query_invalid')])
        }
        const deep = `{"filter":{"a":${'['.repeat(40)}${']'.repeat(40)}}}`
        for (const body of [
          deep,
          '{"filter":',
          '{"filter":{},"unknown":1}',
          '{"limit":-1}',
          '{"limit":1.5}',
          '{"filter":{"__proto__":{"n":1}},"delete":true}',
          '{"filter":{},"update":{"$set":{"__proto__":{"n":1}}}}',
        ]) {
          const answer = await host.send('/spaces/dev/collections/notes/query', {
            method: 'POST',
            headers: { ...host.bearer, 'content-type': 'application/json' },
            body,
          })
          expect([body, answer]).toMatchObject([body, refused('invalid_request', 400)])
        }
        expect((await host.query('notes', { count: true })).rows).toEqual([{ end: { count: 2 } }])
      })

      test('does not see hidden collections, and knows names that none can have', async () => {
        for (const name of ['latchkey_users', '_private']) {
          expect(await host.query(name, {})).toMatchObject(refused('not_found', 404))
          expect(await host.importText(name, '{}\n')).toMatchObject(refused('not_found', 404))
        }
        for (const name of ['1a', 'a%2Fb', 'a'.repeat(65), '%5f']) {
          expect(await host.query(name, {})).toMatchObject({
            status: expect.toSatisfy((status) => [404, 422].includes(status)),
          })
        }
      })
    })

    describe('a query that changes', () => {
      test('updates, replaces and removes, and each is an event without values', async () => {
        await host.importText(
          'users',
          lines(4, (n) => ({ _id: `u${n}`, email: `u${n}@example.test`, n })),
        )
        const count = (changed: number) => ({ status: 200, rows: [{ end: { count: changed } }] })
        const filter = { $or: [{ email: 'u0@example.test' }, { n: { $gte: 3 } }] }
        expect(await host.query('users', { filter, update: { $inc: { n: 10 } } })).toMatchObject(count(2))
        expect(await host.query('users', { filter: { _id: 'u1' }, replace: { x: 1 } })).toMatchObject(count(1))
        expect(await host.query('users', { filter: { n: 2 }, delete: true })).toMatchObject(count(1))
        expect(await host.query('users', { filter: { n: 99 }, delete: true })).toMatchObject(count(0))
        expect((await host.query('users', {})).rows).toEqual([
          { _id: 'u0', email: 'u0@example.test', n: 10 },
          { _id: 'u1', x: 1 },
          { _id: 'u3', email: 'u3@example.test', n: 13 },
          { end: { count: 3 } },
        ])
        const events = await host.events('data_written')
        expect(events.map(({ outcome, detail }) => [outcome, detail])).toMatchObject([
          ['success', { space: 'dev', collection: 'users', change: 'delete', count: 1, fields: 'n' }],
          ['success', { change: 'replace', count: 1, fields: '_id' }],
          ['success', { change: 'update', count: 2, fields: 'email, n' }],
        ])
        expect(JSON.stringify(events)).not.toContain('example.test"}')
        expect(JSON.stringify(events.map(({ detail }) => detail))).not.toContain('u0@')
      })

      test('ATK-205 with ifVersion changes one document in the version that was read, and never a new one', async () => {
        const read = async () => (await host.query('pages', { filter: { _id: 'a' }, versions: true })).rows
        await host.importText('pages', '{"_id":"a","n":1}\n')
        const [row] = (await read()) as { version: number; document: object }[]
        const version = row?.version ?? 0
        expect(row).toEqual({ version: expect.any(Number), document: { _id: 'a', n: 1 } })
        const change = { filter: { _id: 'a' }, replace: { n: 2 }, ifVersion: version }
        expect((await host.query('pages', change)).rows).toEqual([{ end: { count: 1 } }])
        expect(await host.query('pages', change)).toMatchObject(refused('not_current', 409))

        await host.query('pages', { filter: { _id: 'a' }, delete: true })
        await host.importText('pages', '{"_id":"a","n":1}\n')
        for (const sent of [change, { filter: { _id: 'a' }, delete: true, ifVersion: version }]) {
          expect(await host.query('pages', sent)).toMatchObject(refused('not_current', 409))
        }
        expect(await host.query('pages', { ...change, filter: { _id: 'none' } })).toMatchObject(
          refused('not_current', 409),
        )
        for (const filter of [{}, { n: 1 }, { _id: 'a', n: 1 }, { _id: { $in: ['a'] } }]) {
          expect(await host.query('pages', { ...change, filter })).toMatchObject(refused('query_invalid'))
        }
        expect(await read()).toMatchObject([{ document: { n: 1 } }, { end: { count: 1 } }])
      })

      test('pollutes no prototype and cannot change _id', async () => {
        await host.importText('pages', '{"_id":"p"}\n')
        const filter = { _id: 'p' }
        for (const update of [
          '{"$set":{"__proto__.x":1}}',
          '{"$set":{"constructor.prototype.x":1}}',
          { $set: { _id: 'q' } },
        ]) {
          expect(await host.query('pages', { filter, update })).toMatchObject(refused('query_invalid'))
        }
        expect(Reflect.get({}, 'x')).toBeUndefined()
      })
    })

    describe('a query that needs too long', () => {
      const slow = { filter: { text: { $regex: '^(a+)+$' } } }
      let hasty: CollectionsHost
      beforeAll(async () => {
        hasty = await collectionsHost({ ...(await open()), queryMs: 3_000 })
        for (const name of ['dev', 'prod']) await hasty.createSpace(name)
        // Each of them takes a few milliseconds, which is within the bound of a document.
        const slowRow = (n: number) => `{"_id":"a${10_000 + n}","text":"${'a'.repeat(20)}!"}\n`
        const rows = Array.from({ length: 3_000 }, (_, n) => slowRow(n)).join('')
        await hasty.importText('texts', `${rows}{"_id":"b","text":"a"}\n`)
      })
      afterAll(() => hasty.close())

      test('ATK-209 is stopped after its time, and other spaces do not wait for it', async () => {
        const stopped = hasty.query('texts', slow)
        const other = await hasty.send('/spaces/prod/collections/texts/query', {
          method: 'POST',
          headers: { ...hasty.bearer, 'content-type': 'application/json' },
          body: '{"count":true}',
        })
        expect(other.rows).toEqual([{ end: { count: 0 } }])
        const answer = await stopped
        expect(answer).toMatchObject(refused('query_invalid'))
        expect(answer.text).toContain('stopped after 3 s')
        expect((await hasty.query('texts', { filter: { text: 'a' } })).rows).toMatchObject([{ _id: 'b' }, {}])
      })

      test('ATK-209 waits when its space has one already, and is refused when too many wait', async () => {
        const answers = await Promise.all(
          Array.from({ length: 7 }, () => hasty.query('texts', { ...slow, limit: 1, reverse: true })),
        )
        const statuses = answers.map(({ status }) => status)
        expect(statuses.filter((status) => status === 200)).toHaveLength(5)
        expect(answers.filter(({ status }) => status !== 200)).toMatchObject([
          refused('space_busy', 409),
          refused('space_busy', 409),
        ])
      })
    })

    describe('a query that needs too much', () => {
      test('is refused when an expression makes too much', async () => {
        const filter = { $expr: { $gt: [{ $size: { $range: [0, 1_000_000_000] } }, 1] } }
        const answer = await host.query('notes', { filter })
        expect(answer).toMatchObject(refused('query_invalid'))
        expect(answer.text).toContain('1,000,000 values')
        expect((await host.query('notes', { count: true })).rows).toEqual([{ end: { count: 2 } }])
      })

      test('ends when its reader leaves, which frees its place', async () => {
        await host.importText(
          'large',
          lines(4_000, (n) => ({ n, text: 'x'.repeat(5_000) })),
        )
        for (let round = 0; round < 3; round += 1) {
          const leaving = new AbortController()
          const answer = await fetch(`${host.api}/spaces/dev/collections/large/query`, {
            method: 'POST',
            headers: { ...host.bearer, 'content-type': 'application/json' },
            body: '{}',
            signal: leaving.signal,
          })
          await answer.body?.getReader().read()
          leaving.abort()
        }
        expect((await host.query('notes', { count: true })).rows).toEqual([{ end: { count: 2 } }])
      })
    })

    describe('who may query', () => {
      test('ATK-127 an admin token for query, in its spaces, also to change', async () => {
        const token = await host.adminToken({ commands: ['query'] })
        expect((await host.query('own', {}, token)).status).toBe(200)
        expect((await host.call('GET', '/collections', undefined, token)).status).toBe(200)
        expect((await host.query('own', { filter: {}, delete: true }, token)).status).toBe(200)
        expect(await host.importText('own', '{}\n', '', token)).toMatchObject(refused('admin_token_not_for_this', 403))
        for (const narrowed of [{ commands: ['import'] }, { spaces: ['prod'] }]) {
          const other = await host.adminToken(narrowed)
          expect(await host.query('own', {}, other)).toMatchObject(refused('admin_token_not_for_this', 403))
        }
        expect(await host.query('own', {}, {})).toMatchObject(refused('unauthenticated', 401))
      })

      test('a user whose sign-in is not recent reads, and changes nothing', async () => {
        await host.shift(11 * 60_000)
        try {
          expect((await host.query('notes', { count: true })).status).toBe(200)
          for (const change of [{ update: { n: 1 } }, { replace: {} }, { delete: true }]) {
            const answer = await host.query('notes', { filter: {}, ...change })
            expect(answer).toMatchObject(refused('recent_login_required', 403))
          }
        } finally {
          await host.shift(0)
        }
      })
    })
  })
}
