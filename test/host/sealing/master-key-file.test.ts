import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { addMasterKey, createMasterKeyFile, readMasterKeyFile } from '../../../src/host/sealing/master-key-file.js'
import { newMasterKey, parseMasterKeys } from '../../../src/host/sealing/master-keys.js'

async function keyPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-keys-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'master.key')
}

async function written(text: string, mode = 0o600): Promise<string> {
  const path = await keyPath()
  await writeFile(path, text)
  await chmod(path, mode)
  return path
}

const filesBeside = (path: string) => readdir(join(path, '..'))

describe('the file of the master key', () => {
  test('is made with one key and mode 0600, and read again', async () => {
    const path = await keyPath()
    const keys = await createMasterKeyFile(path)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await readMasterKeyFile(path)).ids).toEqual(keys?.ids)
    expect(await filesBeside(path)).toEqual(['master.key'])
  })

  test('is never replaced', async () => {
    const path = await written(`${newMasterKey()}\n`)
    const before = await readFile(path, 'utf8')
    expect(await createMasterKeyFile(path)).toBeNull()
    expect(await readFile(path, 'utf8')).toBe(before)
    expect(await filesBeside(path)).toEqual(['master.key'])
  })

  test('is made although a killed start has left its draft', async () => {
    const path = await keyPath()
    await writeFile(`${path}.part`, 'half')
    expect(await createMasterKeyFile(path)).not.toBeNull()
    expect(await filesBeside(path)).toEqual(['master.key'])
  })

  test.each([0o644, 0o640, 0o660, 0o604, 0o700, 0o400])(
    'is refused with mode %o, with the command that mends it',
    async (mode) => {
      const path = await written(newMasterKey(), mode)
      await expect(readMasterKeyFile(path)).rejects.toThrow(`chmod 600 '${path}'`)
    },
  )

  test('is refused when it is missing, a link, a folder or too long', async () => {
    const path = await keyPath()
    await expect(readMasterKeyFile(path)).rejects.toThrow(`There is no file ${path}.`)
    await symlink(await written(newMasterKey()), path)
    await expect(readMasterKeyFile(path)).rejects.toThrow('is a link')
    await expect(readMasterKeyFile(join(path, '..'))).rejects.toThrow('is no file of keys')
    await expect(readMasterKeyFile(await written('x'.repeat(70_000)))).rejects.toThrow('is no file of keys')
    await expect(readMasterKeyFile(await written('not a key'))).rejects.toThrow('Line 1 is not 32 bytes')
  })

  test('that cannot be read never shows its content in the error', async () => {
    const path = await written('hunter2', 0o644)
    await expect(readMasterKeyFile(path)).rejects.not.toThrow('hunter2')
    await chmod(path, 0o600)
    await expect(readMasterKeyFile(path)).rejects.not.toThrow('hunter2')
  })
})

describe('a key added to the file', () => {
  test('stands first, so it wraps; the former ones still unwrap', async () => {
    const former = newMasterKey()
    const path = await written(former)
    const wrapped = parseMasterKeys(former).wrap('s', Buffer.alloc(32))
    const keys = await addMasterKey(path)
    expect(keys.ids[1]).toBe(parseMasterKeys(former).ids[0])
    expect((await readMasterKeyFile(path)).ids).toEqual(keys.ids)
    expect(keys.unwrap('s', wrapped)).toEqual(Buffer.alloc(32))
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await filesBeside(path)).toEqual(['master.key'])
  })

  test('by five tools at once is never lost: each adds its key or says that another one runs', async () => {
    const path = await written(newMasterKey())
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => addMasterKey(path)))
    const added = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value.ids[0]] : []))
    const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []))
    expect(added.length).toBeGreaterThan(0)
    for (const reason of refused) expect(reason).toContain('another tool is adding a key')
    const { ids } = await readMasterKeyFile(path)
    expect(ids).toHaveLength(added.length + 1)
    expect(ids).toEqual(expect.arrayContaining(added))
  })

  test('is not added to a file that would be refused, and nothing changes', async () => {
    const path = await written(newMasterKey(), 0o644)
    const before = await readFile(path, 'utf8')
    await expect(addMasterKey(path)).rejects.toThrow('must be 0600')
    expect(await readFile(path, 'utf8')).toBe(before)
    expect(await filesBeside(path)).toEqual(['master.key'])
  })
})
