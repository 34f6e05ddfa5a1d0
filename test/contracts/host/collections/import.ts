import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type CollectionsHost,
  type CollectionsHostOptions,
  collectionsHost,
} from '../../../support/collections-host.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

/** What the import of documents promises, wherever the data of spaces is. `open` makes the place of a host. */
export function importRoutes(name: string, open: () => Promise<CollectionsHostOptions>): void {
  describe(`on ${name}`, () => {
    let host: CollectionsHost
    beforeAll(async () => {
      const own = await open()
      host = await collectionsHost({ ...own, limits: { document: '64KiB', space: '8MiB' } })
      for (const name of ['dev', 'prod']) await host.createSpace(name)
    })
    afterAll(() => host.close())

    const all = async (collection: string) => (await host.query(collection, {})).rows
    const count = async (collection: string) => (await host.query(collection, { count: true })).rows

    test('imports lines in batches, reports how far it is, and gives documents without an _id a new one', async () => {
      const text = Array.from({ length: 2_500 }, (_, n) => `{"n":${n}}\n`).join('')
      const { status, rows } = await host.importText('notes', text)
      expect(status).toBe(200)
      expect(rows).toEqual([
        { processed: 1_000, imported: 1_000, faults: 0 },
        { processed: 2_000, imported: 2_000, faults: 0 },
        { processed: 2_500, imported: 2_500, faults: 0 },
        { finished: true, imported: 2_500, faults: 0, failed: [] },
      ])
      expect((await host.query('notes', { limit: 1 })).rows).toMatchObject([
        { _id: /^[0-9a-f]{24}$/.source && expect.any(String) },
        {},
      ])
      expect(await host.events('data_imported')).toMatchObject([
        { outcome: 'success', detail: { space: 'dev', collection: 'notes', count: 2_500, failed: 0, upsert: false } },
      ])
    })

    test('goes on in smaller batches where one has more entries in indexes than one call may change', async () => {
      const roomy = await collectionsHost({ ...(await open()), limits: { document: '64KiB', space: '64MiB' } })
      onTestFinished(() => roomy.close())
      await roomy.createSpace('dev')
      expect((await roomy.call('POST', '/collections/tagged/indexes', { fields: ['tags'] })).status).toBe(200)
      const tags = JSON.stringify(Array.from({ length: 120 }, (_, tag) => tag))
      const text = Array.from({ length: 1_000 }, (_, n) => `{"_id":"t${n}","tags":${tags}}\n`).join('')
      const { rows } = await roomy.importText('tagged', text)
      expect(rows.at(-1)).toEqual({ finished: true, imported: 1_000, faults: 0, failed: [] })
      const counted = await roomy.query('tagged', { filter: { tags: 7 }, count: true })
      expect(counted.rows).toEqual([{ end: { count: 1_000 } }])
    })

    test('ATK-170 ATK-207 faults are told by line, and the other lines go in', async () => {
      const bad: [string | Buffer, string][] = [
        ['{"_id":"good1"}', ''],
        ['{"_id":7}', '_id'],
        ['{"_id":{"a":1}}', '_id'],
        ['{"_id":{"$oid":"507f1f77bcf86cd799439011"}}', ''],
        ['{"_id":{"$date":"2026-01-31T12:00:00Z"}}', '_id'],
        ['{"_id":""}', '_id'],
        ['{"_id":null}', '_id'],
        [`{"_id":"${'x'.repeat(256)}"}`, '_id'],
        ['{"_id":"a\\u0000b"}', '_id'],
        ['{"_id":"\\ud800"}', '_id'],
        ['{"_id":"good1","again":true}', 'exists already'],
        ['{"_id":"GOOD1"}', ''],
        ['[1]', 'object'],
        ['7', 'object'],
        ['null', 'object'],
        ['{"a":', 'no JSON'],
        ['', ''],
        ['{"__proto__":{"x":1}}', '__proto__'],
        ['{"a\\u0000":1}', 'NUL'],
        [`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 'nests deeper'],
        [`{"big":"${'x'.repeat(70_000)}"}`, 'larger than limits.document'],
        [`{"huge":"${'x'.repeat(16 * 1024 * 1024)}"}`, 'larger than limits.document'],
        [Buffer.from([0x7b, 0xff, 0x7d]), 'UTF-8'],
        ['{"_id":"twice","_id":"last","cell":"=cmd()"}', ''],
        ['{"$set":{"a":1},"_id":"operators"}', ''],
      ]
      const body = Buffer.concat(bad.flatMap(([line]) => [Buffer.from(line), Buffer.from('\n')]))
      const { status, rows } = await host.importText('mixed', body)
      expect(status).toBe(200)
      const expected = bad.flatMap(([, fault], at) =>
        fault === '' ? [] : [{ line: at + 1, fault: expect.stringContaining(fault) }],
      )
      expect(rows.at(-1)).toEqual({ finished: true, imported: 5, faults: expected.length, failed: expected })
      const ids = (await all('mixed')).flatMap((row) =>
        Object.entries(row as object).flatMap(([name, id]) => (name === '_id' ? [id] : [])),
      )
      expect(ids).toEqual(['507f1f77bcf86cd799439011', 'GOOD1', 'good1', 'last', 'operators'])
      expect(Reflect.get({}, 'x')).toBeUndefined()
    })

    test('an existing _id is a fault, unless upsert replaces it; a dry run writes nothing', async () => {
      await host.importText('people', '{"_id":"a","n":1}\n')
      const text = '{"_id":"a","n":2}\n{"_id":"b","n":2}\n{"_id":"b","n":3}\n'
      const fault = 'A document with this _id exists already.'
      const failed = [
        { line: 1, fault },
        { line: 3, fault },
      ]
      const dry = await host.importText('people', text, '?dryrun=true')
      expect(dry.rows.at(-1)).toEqual({ finished: true, imported: 1, faults: 2, failed })
      const dryUpsert = await host.importText('people', text, '?dryrun=true&upsert=true')
      expect(dryUpsert.rows.at(-1)).toEqual({ finished: true, imported: 3, faults: 0, failed: [] })
      expect(await all('people')).toEqual([{ _id: 'a', n: 1 }, { end: { count: 1 } }])
      const events = await host.events('data_imported')

      const { rows } = await host.importText('people', text)
      expect(rows.at(-1)).toEqual({ finished: true, imported: 1, faults: 2, failed })
      expect(await host.events('data_imported')).toHaveLength(events.length + 1)
      expect(await all('people')).toMatchObject([{ n: 1 }, { n: 2 }, {}])
      expect((await host.importText('people', text, '?upsert=true')).rows.at(-1)).toMatchObject({ imported: 3 })
      expect(await all('people')).toMatchObject([{ n: 2 }, { n: 3 }, {}])
      expect(await host.importText('people', text, '?upsert=yes')).toMatchObject({ status: 400 })
    })

    test('lists the first 1,000 faults, and counts the others', async () => {
      const { rows } = await host.importText('faulty', 'x\n'.repeat(1_500))
      const last = rows.at(-1) as { faults: number; failed: unknown[] }
      expect([last.faults, last.failed.length]).toEqual([1_500, 1_000])
    })

    test('ends with the problem when the space is full, and tells what was imported so far', async () => {
      const line = `{"text":"${'x'.repeat(1_000)}"}\n`
      const { status, rows } = await host.importText('full', line.repeat(9_000))
      const last = rows.at(-1) as { error: unknown; imported: number }
      expect([status, last]).toMatchObject([200, { error: { code: 'quota_exceeded', status: 413 } }])
      expect(last.imported).toBeGreaterThan(0)
      expect(await count('full')).toEqual([{ end: { count: last.imported } }])
      expect((await host.events('data_imported'))[0]).toMatchObject({
        outcome: 'failure',
        detail: { count: last.imported },
      })
      await host.query('full', { filter: {}, delete: true })
    })

    function openImport(collection: string) {
      return request(`${host.api}/spaces/dev/collections/${collection}/import`, {
        method: 'POST',
        headers: { ...host.bearer, 'content-type': 'application/jsonl', 'transfer-encoding': 'chunked' },
      }).on('error', () => {})
    }

    test('writes nothing when its client leaves before the last line', async () => {
      const before = await host.events('data_imported')
      const sent = openImport('unsent')
      await new Promise<void>((resolve) => {
        sent.write(Array.from({ length: 1_500 }, (_, n) => `{"n":${n}}\n`).join(''), () => resolve())
      })
      sent.destroy()
      // The next one of this space goes on after it.
      expect((await host.importText('sent', '{}\n')).rows.at(-1)).toMatchObject({ finished: true })
      expect(await count('unsent')).toEqual([{ end: { count: 0 } }])
      expect(await host.events('data_imported')).toHaveLength(before.length + 1)
    })

    test('stops when its client leaves; what was written stays, and the event says how much', async () => {
      const before = await host.events('data_imported')
      const sent = openImport('left')
      sent.end(Array.from({ length: 60_000 }, (_, n) => `{"n":${n}}\n`).join(''))
      const [answer]: IncomingMessage[] = await once(sent, 'response')
      if (answer) await once(answer, 'data')
      sent.destroy()
      await vi.waitFor(async () => expect(await host.events('data_imported')).toHaveLength(before.length + 1), {
        timeout: 20_000,
      })
      const [event] = await host.events('data_imported')
      expect(event).toMatchObject({ outcome: 'failure', detail: { collection: 'left', code: 'invalid_request' } })
      const { count: written } = Object(event?.detail)
      expect(written).toBeGreaterThan(0)
      expect(written).toBeLessThan(60_000)
      expect(await count('left')).toEqual([{ end: { count: written } }])
      await host.query('left', { filter: {}, delete: true })
    })

    test('ATK-127 takes an admin token for import in its space, and no form and no compressed body', async () => {
      const token = await host.adminToken({ commands: ['import'], spaces: undefined })
      expect((await host.importText('own', '{}\n', '', token)).status).toBe(200)
      for (const narrowed of [{ commands: ['query'] }, { spaces: ['prod'] }]) {
        const other = await host.adminToken(narrowed)
        const answer = await host.importText('own', '{}\n', '', other)
        expect(answer).toMatchObject({ status: 403, body: { code: 'admin_token_not_for_this' } })
      }
      for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'gzip' }]) {
        const answer = await host.send('/spaces/dev/collections/own/import', {
          method: 'POST',
          headers: { ...token, ...headers },
          body: '{}\n',
        })
        expect(answer.status).toBe(415)
      }
      expect(await count('own')).toEqual([{ end: { count: 1 } }])
    })

    test('ATK-170 never answers a fault of the server, whatever is sent, and counts every line once', async () => {
      const piece = fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc.json({ depthSize: 'small' }).map((text) => Buffer.from(`${text}\n`)),
        fc.record({ _id: fc.oneof(fc.string(), fc.integer(), fc.constant('same')), a: fc.anything() }).map((row) => {
          const text = JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))
          return Buffer.from(`${text}\n`)
        }),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.boolean(), async (pieces, upsert) => {
          const body = Buffer.concat(pieces)
          const { status, rows } = await host.importText('any', body, `?upsert=${upsert}`)
          const last = rows.at(-1) as { finished: boolean; imported: number; faults: number }
          const sent = body
            .toString('latin1')
            .split('\n')
            .filter((line) => line.trim() !== '').length
          expect([status, last.finished]).toEqual([200, true])
          expect(last.imported + last.faults).toBeLessThanOrEqual(sent)
        }),
        { numRuns: 25 },
      )
    })
  })
}
