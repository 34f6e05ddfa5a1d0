import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { collectionsHost } from '../../support/collections-host.js'

test('work whose audit row cannot be written ends with a fault: an export before it begins, a change after it', async () => {
  const host = await collectionsHost()
  onTestFinished(() => host.close())
  await host.createSpace('dev')
  await host.importText('notes', '{"_id":"a","n":1}\n')
  const database = new Database(join(host.data, 'host.db'))
  database.exec(`create trigger full before insert on latchkey_audit
    when new.event in ('data_imported', 'data_written', 'data_exported', 'index_created')
    begin select raise(abort, 'full'); end`)
  database.close()

  const unavailable = { code: 'store_unavailable' }
  const imported = await host.importText('notes', '{"_id":"b","n":1}\n')
  expect(imported.rows.at(-1)).toMatchObject({ error: unavailable })
  const changed = await host.query('notes', { filter: {}, update: { $set: { n: 2 } } })
  expect(changed).toMatchObject({ status: 503, body: unavailable })
  const indexed = await host.call('POST', '/collections/notes/indexes', { fields: ['n'] })
  expect(indexed.rows.at(-1)).toMatchObject({ error: unavailable })
  expect(await host.call('GET', '/collections/notes/export')).toMatchObject({ status: 503, body: unavailable })

  const { rows } = await host.query('notes', { filter: {} })
  expect(rows).toEqual([{ _id: 'a', n: 2 }, { _id: 'b', n: 2 }, { end: { count: 2 } }])
})
