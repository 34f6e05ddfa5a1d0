import { afterAll, beforeAll, expect, test } from 'vitest'
import { schemaName } from '../../../src/host/storage/postgres/schema.js'
import { documentsContract } from '../../contracts/host/documents.js'
import { indexesContract } from '../../contracts/host/indexes.js'
import { keyValuesContract } from '../../contracts/host/key-values.js'
import { equalRanges, makeIndex, scanAll, scanOf } from '../../support/index-scans.js'
import { type SpaceSchemas, startSpaceSchemas } from '../../support/space-schemas.js'

let schemas: SpaceSchemas
beforeAll(async () => {
  schemas = await startSpaceSchemas()
})
afterAll(() => schemas.close())

async function open() {
  const data = await schemas.open()
  return { ...data, advance: schemas.advance }
}

documentsContract('PostgreSQL', open)
indexesContract('PostgreSQL', open)
keyValuesContract('PostgreSQL', open)

test('text that is no JSON is refused, and nothing is written', async () => {
  const { documents } = await open()
  for (const body of ['{', '{"a":1}}', '{"a":\u0000}', "{'a':1}"]) {
    await expect(documents.put('notes', 'a', body, 'any')).rejects.toMatchObject({
      code: expect.stringMatching(/^22P02|22021$/),
    })
  }
  expect(await documents.count('notes')).toBe(0)
})

test('the quota counts rows, and what is deleted is free again', async () => {
  const { documents, keyValues, usedBytes, tidy } = await schemas.open(10_000)
  const body = JSON.stringify({ text: 'x'.repeat(3_000) })
  const full = { code: 'quota_exceeded' }
  for (const id of ['a', 'b', 'c']) await documents.put('notes', id, body, 'absent')
  await expect(documents.put('notes', 'd', body, 'absent')).rejects.toMatchObject(full)
  await expect(documents.putMany('more', [{ id: 'd', body }], 'absent')).rejects.toMatchObject(full)
  await expect(keyValues.set({ keyspace: '', key: 'k' }, body, null)).rejects.toMatchObject(full)
  expect(await documents.count('notes')).toBe(3)
  expect(await usedBytes()).toBeLessThanOrEqual(10_000)
  const version = (await documents.get('notes', 'a'))?.version ?? 0
  const change = { id: 'a', version, body: JSON.stringify({ text: 'x'.repeat(9_000) }) }
  await expect(documents.changeMany('notes', [change])).rejects.toMatchObject(full)
  expect(await documents.changeMany('notes', [{ ...change, body: '{}' }])).toEqual({ changed: 1, overtaken: [] })
  await keyValues.set({ keyspace: '', key: 'k' }, body, 1_000)
  await documents.drop('notes')
  await schemas.advance(1_000)
  while (await tidy(0));
  expect(await usedBytes()).toBe(0)
  for (const id of ['a', 'b', 'c']) await documents.put('notes', id, body, 'absent')
})

test('entries count to the quota, and are free again when their index is removed', async () => {
  const { documents, indexes, usedBytes, tidy } = await schemas.open(200_000)
  const body = JSON.stringify({ list: Array.from({ length: 200 }, (_, n) => n) })
  for (let n = 0; n < 20; n += 1) await documents.put('notes', `${n}`, body, 'absent')
  const before = await usedBytes()
  await indexes.create('notes', 'list', false)
  await expect(indexes.build('notes', 'list')).rejects.toMatchObject({ code: 'quota_exceeded' })
  expect(await indexes.list('notes')).toMatchObject([{ state: 'building' }])
  expect(await usedBytes()).toBe(before)
  for (let n = 0; n < 16; n += 1) await documents.remove('notes', `${n}`, 'any')
  await makeIndex(indexes, 'notes', 'list')
  const [left, indexed] = [before / 5, await usedBytes()]
  expect(indexed).toBeGreaterThan(left + 4 * 200 * 9)
  await documents.put('notes', '16', '{}', 'any')
  expect(await usedBytes()).toBeLessThan(indexed - 200 * 9)
  await documents.put('notes', '16', body, 'any')
  expect(await usedBytes()).toBe(indexed)
  await indexes.remove('notes', 'list')
  while (await tidy(0));
  await documents.drop('notes')
  while (await tidy(0));
  expect(await usedBytes()).toBe(0)
})

test('documents of many bytes are read in parts for their entries, and the old ones go', async () => {
  const { documents, indexes } = await open()
  await makeIndex(indexes, 'notes', 'n')
  const text = 'x'.repeat(1_500_000)
  const ids = Array.from({ length: 7 }, (_, n) => `d${n}`)
  for (const [n, id] of ids.entries()) await documents.put('notes', id, JSON.stringify({ n, text }), 'absent')
  await documents.putMany(
    'notes',
    ids.map((id) => ({ id, body: '{"n":-1}' })),
    'any',
  )
  const { ids: found } = await scanAll(indexes, 'notes', scanOf('n', { order: 1 }))
  expect(found).toEqual(ids)
})

test('a scan of more ranges than a statement reads keeps their order, both ways', async () => {
  const { documents, indexes } = await open()
  await makeIndex(indexes, 'notes', 'n')
  const rows = Array.from({ length: 600 }, (_, n) => ({
    id: `d${String(n).padStart(3, '0')}`,
    body: `{"n":${n >> 1}}`,
  }))
  await documents.putMany('notes', rows, 'absent')
  const choices = [equalRanges(...Array.from({ length: 150 }, (_, n) => 2 * n))]
  const expected = rows.filter((_, n) => (n >> 1) % 2 === 0).map(({ id }) => id)
  for (const limit of [7, 200, 1_000]) {
    const { ids } = await scanAll(indexes, 'notes', scanOf('n', { choices, order: 1, limit }))
    expect(ids).toEqual(expected)
    const backwards = await scanAll(indexes, 'notes', scanOf('n', { choices, order: -1, limit }))
    expect(backwards.ids).toEqual(expected.map((_, n) => expected[expected.length - 1 - (n ^ 1)]))
  }
})

test('a name of a schema holds an id and nothing else', () => {
  expect(schemaName('Ab_-9', 3)).toBe('lk_Ab_-9_g3')
  for (const id of ['', 'a"b', "a'b", 'a b', 'x'.repeat(41)]) expect(() => schemaName(id, 1)).toThrow(TypeError)
})
