import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openSecretsFile } from '../../../src/host/folder/secrets-file.js'
import { hostFolder } from '../../support/host-folder.js'

test('the first start makes three secrets with mode 0600, and the next one reads them', async () => {
  const { secrets: path } = await hostFolder()
  const made = await openSecretsFile(path, true)
  expect(new Set(Object.values(made)).size).toBe(3)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await openSecretsFile(path, false)).toEqual(made)
})

test('a draft that a killed start has left is replaced', async () => {
  const { secrets: path, path: folder } = await hostFolder()
  await writeFile(`${path}.part`, '{"JWT_ACCESS', { mode: 0o600 })
  const made = await openSecretsFile(path, true)
  expect(await openSecretsFile(path, false)).toEqual(made)
  expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
})

test('a damaged file stops the start, and is not replaced', async () => {
  const { secrets: path } = await hostFolder()
  for (const text of ['', '{"JWT_ACCESS_TOKEN_SECRET":"a', '[]', '{"JWT_ACCESS_TOKEN_SECRET":"a"}']) {
    await writeFile(path, text, { mode: 0o600 })
    await expect(openSecretsFile(path, true)).rejects.toThrow('is damaged')
    expect(await readFile(path, 'utf8')).toBe(text)
  }
})

test('a missing file stops the start where a database needs its secrets', async () => {
  const { secrets: path } = await hostFolder()
  await expect(openSecretsFile(path, false)).rejects.toThrow('host.db was written with its secrets')
})

test('a file that other users can read is refused', async () => {
  const { secrets: path } = await hostFolder()
  await openSecretsFile(path, true)
  await chmod(path, 0o640)
  await expect(openSecretsFile(path, false)).rejects.toThrow(`Run: chmod 600 '${path}'`)
})
