import { chmod, mkdir, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { folderAt, prepareFolder } from '../../../src/host/folder/folder.js'
import { hostFolder, hostPath } from '../../support/host-folder.js'

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

test('the folder is made with mode 0700, and taken again', async () => {
  const folder = await hostFolder()
  for (const path of [folder.path, folder.run, folder.spaces]) expect(await modeOf(path)).toBe(0o700)
  await prepareFolder(folder)
})

test('a folder that others can write to is refused, with the command that helps', async () => {
  const folder = await hostFolder()
  await chmod(folder.path, 0o770)
  await expect(prepareFolder(folder)).rejects.toThrow(`data: Other users can write to ${folder.path}. Run: chmod go-w`)
  await chmod(folder.path, 0o700)
  await chmod(folder.run, 0o702)
  await expect(prepareFolder(folder)).rejects.toThrow(`Other users can write to ${folder.run}.`)
})

test.runIf(process.getuid?.() !== 0)('a folder of another user is refused', async () => {
  await expect(prepareFolder(folderAt('/'))).rejects.toThrow(/belongs to another user|permission is denied/)
})

test('a link and a file are refused', async () => {
  const folder = await hostFolder()
  await rename(folder.path, `${folder.path}-elsewhere`)
  await symlink(`${folder.path}-elsewhere`, folder.path)
  await expect(prepareFolder(folder)).rejects.toThrow('is a link')

  const path = await hostPath()
  await writeFile(path, '')
  await expect(prepareFolder(folderAt(path))).rejects.toThrow('is not a folder')
  await expect(prepareFolder(folderAt(`${path}/below`))).rejects.toThrow('is not a folder')
})

test.runIf(process.getuid?.() === 0)('a folder that another user owns is refused', async () => {
  const path = await hostPath()
  await mkdir(path, { mode: 0o700 })
  const { chown } = await import('node:fs/promises')
  await chown(path, 65_534, 65_534)
  await expect(prepareFolder(folderAt(path))).rejects.toThrow('belongs to another user')
})
