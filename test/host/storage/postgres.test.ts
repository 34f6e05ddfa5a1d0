import { afterAll, beforeAll, expect, test } from 'vitest'
import { schemaName } from '../../../src/host/storage/postgres/schema.js'
import { documentsContract } from '../../contracts/host/documents.js'
import { indexesContract } from '../../contracts/host/indexes.js'
import { keyValuesContract } from '../../contracts/host/key-values.js'
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
  await documents.put('notes', 'a', '{}', 'any')
  await keyValues.set({ keyspace: '', key: 'k' }, body, 1_000)
  await documents.drop('notes')
  await schemas.advance(1_000)
  while (await tidy(0));
  expect(await usedBytes()).toBe(0)
  for (const id of ['a', 'b', 'c']) await documents.put('notes', id, body, 'absent')
})

test('a name of a schema holds an id and nothing else', () => {
  expect(schemaName('Ab_-9', 3)).toBe('lk_Ab_-9_g3')
  for (const id of ['', 'a"b', "a'b", 'a b', 'x'.repeat(41)]) expect(() => schemaName(id, 1)).toThrow(TypeError)
})
