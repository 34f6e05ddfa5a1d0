import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCall } from '../../../src/host/storage/calls.js'
import { createDocuments } from '../../../src/host/storage/thread/documents.js'
import { createIndexes } from '../../../src/host/storage/thread/indexes.js'
import { createKeyValues } from '../../../src/host/storage/thread/key-values.js'
import { numberAt, openSpaceFile } from '../../../src/host/storage/thread/space-file.js'
import { tidy } from '../../../src/host/storage/thread/tidy.js'
import { defaultLimits } from '../../../src/host/storage/threads.js'
import { temporaryFolder } from '../../support/auth.js'
import { makeIndex, scanAll, scanOf } from '../../support/index-scans.js'

async function openFile(quotaBytes = 1024 ** 3) {
  const file = await openSpaceFile({ file: join(temporaryFolder(), 'g1.db'), quotaBytes })
  onTestFinished(file.close)
  return {
    file,
    documents: createDocuments(file),
    indexes: createIndexes(file),
    keyValues: createKeyValues(file, () => 0),
  }
}

const bodyOf = (fields: Record<string, unknown>) => JSON.stringify(fields)

test('ATK-203 the arguments of a scan through an index are checked', async () => {
  const ports = await openFile()
  await makeIndex(ports.indexes, 'notes', 'n')
  await ports.documents.put('notes', 'a', bodyOf({ n: 1 }), 'absent')
  const call = (scan: unknown) => runCall(ports, { port: 'indexes', verb: 'scan' }, ['notes', scan], defaultLimits)
  const good = scanOf('n')
  expect(await call(good)).toMatchObject({ documents: [{ id: 'a' }] })
  const range = { from: '20', to: '30' }
  for (const bad of [
    null,
    { ...good, choices: [] },
    { ...good, choices: [[]] },
    { ...good, choices: ['x'] },
    { ...good, choices: [[null]] },
    { ...good, choices: [[{ from: '30', to: '20' }]] },
    { ...good, choices: [[range, range]] },
    { ...good, choices: [[{ from: '2', to: '30' }]] },
    { ...good, choices: [[{ from: '2G', to: '30' }]] },
    { ...good, choices: [[{ from: '20'.repeat(203), to: '30' }]] },
    { ...good, choices: Array.from({ length: 2_501 }, () => [range]) },
    { ...good, order: 2 },
    { ...good, seen: {} },
    { ...good, after: 'x' },
    { ...good, after: '7.20.a' },
    { ...good, after: 7 },
    { ...good, limit: 0 },
    { ...good, limit: 10_001 },
    { ...good, field: '__proto__' },
  ]) {
    await expect(call(bad)).rejects.toMatchObject({ code: 'query_invalid' })
  }
})

test('the entries of removed indexes and dropped collections are deleted page by page, and their tables too', async () => {
  const { file, documents, indexes } = await openFile()
  for (const name of ['notes', 'users']) {
    for (let first = 0; first < 6_000; first += 1_000) {
      const rows = Array.from({ length: 1_000 }, (_, n) => ({ id: `${first + n}`, body: bodyOf({ n: first + n }) }))
      await documents.putMany(name, rows, 'absent')
    }
    await makeIndex(indexes, name, 'n', true)
  }
  await indexes.remove('notes', 'n')
  await documents.drop('users')
  let pages = 0
  while (tidy(file, 0)) pages += 1
  expect(pages).toBeGreaterThanOrEqual(8)
  const tables = file.rows(`select name from sqlite_schema where type = 'table' and (name like 'x%' or name like 'u%')`)
  expect(tables).toEqual([])
  expect(await documents.count('notes')).toBe(6_000)
})

test('entries count to the quota', async () => {
  const { file, documents, indexes } = await openFile(1024 ** 2)
  const row = (n: number) => ({
    id: `${n}`,
    body: bodyOf({ list: Array.from({ length: 900 }, (_, at) => `${at}-${n}`) }),
  })
  for (let n = 0; n < 60; n += 1) await documents.put('notes', row(n).id, row(n).body, 'absent')
  await indexes.create('notes', 'list', false)
  const build = async () => {
    while (!(await indexes.build('notes', 'list')).isReady);
  }
  await expect(build()).rejects.toMatchObject({ code: 'quota_exceeded' })
  // A page that fits may leave pages of the file half full, and the log behind.
  expect(file.usedBytes()).toBeLessThan(1.5 * 1024 ** 2)
  expect(await indexes.list('notes')).toMatchObject([{ state: 'building' }])
  await indexes.remove('notes', 'list')
  while (tidy(file, 0));
  await documents.put('notes', 'one more', '{}', 'absent')
})

test('ATK-209 one call writes a bounded number of entries', async () => {
  const { documents, indexes } = await openFile()
  await makeIndex(indexes, 'notes', 'list')
  const list = Array.from({ length: 1_000 }, (_, n) => n)
  const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `${n}`, body: bodyOf({ list }) }))
  await expect(documents.putMany('notes', rows(101), 'absent')).rejects.toMatchObject({ code: 'query_invalid' })
  expect(await documents.count('notes')).toBe(0)
})

test('SQLite reads a scan from its index, from the place of the page before on', async () => {
  const { file, documents, indexes } = await openFile()
  await makeIndex(indexes, 'notes', 'n')
  await documents.put('notes', 'a', bodyOf({ n: 1 }), 'absent')
  expect((await scanAll(indexes, 'notes', scanOf('n', { limit: 1 }))).ids).toEqual(['a'])
  const steps = file.rows(
    `explain query plan select x.k, x.id, c.ver, c.body from x1_1 x cross join c1 c on c.id = x.id
     where (x.k, x.id) > (?, ?) and x.k < ? order by x.k, x.id`,
    ...[Buffer.of(1), '', Buffer.of(2)],
  )
  expect(steps.map((step) => Object(step).detail)).toEqual([
    expect.stringMatching(/^SEARCH x USING PRIMARY KEY \(\(k,id\)>/),
    expect.stringMatching(/^SEARCH c USING PRIMARY KEY/),
  ])
  expect(numberAt(file.row('select count(*) as count from sqlite_stat1'), 'count')).toBeGreaterThanOrEqual(0)
})
