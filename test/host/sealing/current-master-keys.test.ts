import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { addMasterKey, createMasterKeyFile } from '../../../src/host/sealing/master-key-file.js'
import { keysForRotation, openMasterKeys } from '../../../src/host/sealing/master-key-source.js'
import { newMasterKey, parseMasterKeys } from '../../../src/host/sealing/master-keys.js'
import { createSpaceKey, rewrap } from '../../../src/host/sealing/space-keys.js'
import { hostFolder } from '../../support/host-folder.js'

/** A running host and one data key. */
async function running() {
  const { masterKey } = await hostFolder()
  const made = await createMasterKeyFile(masterKey)
  if (made === null) throw new Error('The file was there.')
  const source = { given: null, file: null, own: masterKey }
  const { keys } = await openMasterKeys(source, made.ids)
  return { path: masterKey, source, keys, row: createSpaceKey(keys, 'space') }
}

test('a running host opens what the tool has wrapped again, also when the former line is gone', async () => {
  const { path, source, keys, row } = await running()
  const rotated = await keysForRotation(source, keys.ids)
  const [wrapped = row] = rewrap(rotated, [row])
  const before = parseMasterKeys(await readFile(path, 'utf8')).unwrap('space', row.wrapped)
  await writeFile(path, `${(await readFile(path, 'utf8')).split('\n')[0]}\n`)
  expect(keys.unwrap('space', wrapped.wrapped)).toEqual(before)
  expect(keys.ids).toEqual([rotated.ids[0]])
})

test('a running host wraps the data key of a new space under the new key', async () => {
  const { source, keys } = await running()
  const rotated = await keysForRotation(source, keys.ids)
  expect(createSpaceKey(keys, 'later').wrapped.startsWith(`${rotated.ids[0]}.`)).toBe(true)
})

test('while the file cannot be read, the known keys stay', async () => {
  const { path, keys, row } = await running()
  await rm(path)
  expect(keys.unwrap('space', createSpaceKey(keys, 'space').wrapped)).toHaveLength(32)
  expect(keys.unwrap('space', row.wrapped)).toHaveLength(32)
  const foreign = createSpaceKey(parseMasterKeys(newMasterKey()), 'space')
  expect(() => keys.unwrap('space', foreign.wrapped)).toThrow('is missing')
})

test('ATK-167 a file that others may read by now is not read again, as at the start', async () => {
  const { path, source, keys } = await running()
  const [former] = keys.ids
  const rotated = await keysForRotation(source, keys.ids)
  await chmod(path, 0o644)
  expect(createSpaceKey(keys, 'later').wrapped.startsWith(`${former}.`)).toBe(true)
  await chmod(path, 0o600)
  expect(createSpaceKey(keys, 'later').wrapped.startsWith(`${rotated.ids[0]}.`)).toBe(true)
})

test('ATK-167 a rotation that was killed after it had added its key goes on with that key, and both open', async () => {
  const { path, source, keys, row } = await running()
  const [former] = keys.ids
  const added = await addMasterKey(path)
  const again = await keysForRotation(source, [former ?? ''])
  expect(again.ids).toEqual(added.ids)
  expect(again.unwrap('space', row.wrapped)).toHaveLength(32)
  expect(rewrap(again, [row])).toHaveLength(1)
})

test('ATK-167 keys of another host and a missing file change nothing', async () => {
  const { path, source } = await running()
  const text = await readFile(path, 'utf8')
  await expect(keysForRotation(source, ['foreign1'])).rejects.toThrow('foreign1')
  await expect(keysForRotation({ ...source, given: newMasterKey() }, ['foreign1'])).rejects.toThrow('foreign1')
  expect(await readFile(path, 'utf8')).toBe(text)
  await expect(keysForRotation({ ...source, own: `${path}.none` }, [])).rejects.toThrow('There is no file')
})
