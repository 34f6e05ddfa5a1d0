import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openMasterKeys } from '../../../src/host/sealing/master-key-source.js'
import { newMasterKey, parseMasterKeys } from '../../../src/host/sealing/master-keys.js'
import { hostFolder } from '../../support/host-folder.js'

const idOf = (key: string) => parseMasterKeys(key).ids[0] ?? ''

test('the first start makes a key, the next one reads it', async () => {
  const { masterKey: own } = await hostFolder()
  const first = await openMasterKeys({ given: null, file: null, own }, [])
  expect(first.made).toBe(true)
  expect((await stat(own)).mode & 0o777).toBe(0o600)
  const second = await openMasterKeys({ given: null, file: null, own }, first.keys.ids)
  expect(second).toMatchObject({ made: false, keys: { ids: first.keys.ids } })
  expect((await openMasterKeys({ given: null, file: null, own }, [])).keys.ids).toEqual(first.keys.ids)
})

test('a given text comes before a named file, and that before our own', async () => {
  const { masterKey: own, path } = await hostFolder()
  const [given, named] = [newMasterKey(), newMasterKey()]
  const file = join(path, 'named')
  await writeFile(file, `${named}\n`, { mode: 0o600 })
  expect((await openMasterKeys({ given, file, own }, [])).keys.ids).toEqual([idOf(given)])
  expect((await openMasterKeys({ given: null, file, own }, [])).keys.ids).toEqual([idOf(named)])
  await expect(stat(own)).rejects.toThrow('ENOENT')
})

test('ATK-167 a foreign or missing key stops the start, names its id, and none is made', async () => {
  const { masterKey: own } = await hostFolder()
  const stored = [idOf(newMasterKey())]
  const given = newMasterKey()
  await expect(openMasterKeys({ given, file: null, own }, stored)).rejects.toThrow(`sealed under ${stored[0]}`)
  await expect(openMasterKeys({ given: null, file: null, own }, stored)).rejects.toThrow(
    `masterKey: The environment of spaces is sealed under ${stored[0]}. There is no file ${own}.`,
  )
  await expect(stat(own)).rejects.toThrow('ENOENT')
  await expect(openMasterKeys({ given: '', file: null, own }, [])).rejects.toThrow('masterKey: It holds no key')
})
