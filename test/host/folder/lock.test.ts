import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, stat } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { lockFolder } from '../../../src/host/folder/folder.js'
import { type BuiltProgram, buildProgram, hostFolder } from '../../support/host-folder.js'

const nowSeconds = 1_700_000_000
const children: ChildProcess[] = []

let program: BuiltProgram
beforeAll(async () => {
  program = await buildProgram(new URL('../../support/locking-process.ts', import.meta.url))
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(() => program.remove())

/** A process that has tried to lock the folder, and the line that it printed. */
async function locking(path: string): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [program.path, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  child.stdout?.setEncoding('utf8')
  const line: string = await new Promise((resolve) => {
    let text = ''
    child.stdout?.on('data', (chunk: string) => {
      text += chunk
    })
    child.stdout?.on('data', () => text.endsWith('\n') && text.includes('locked') && resolve(text.trim()))
    child.once('close', () => resolve(text.trim()))
  })
  return { child, line }
}

test('a second process learns which one holds the folder, and since when', async () => {
  const folder = await hostFolder()
  const first = await locking(folder.path)
  expect(first.line).toBe('locked')
  const { since } = JSON.parse(await readFile(folder.holder, 'utf8'))
  const second = await locking(folder.path)
  expect(second.line).toContain(`is in use by process ${first.child.pid} since ${since}`)
  expect(second.line).toContain('data: ')
})

test('the kernel frees the lock of a process that was killed', async () => {
  const folder = await hostFolder()
  const first = await locking(folder.path)
  expect(first.line).toBe('locked')
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  expect((await locking(folder.path)).line).toBe('locked')
})

test('the folder is free again after the release, and its files have mode 0600', async () => {
  const folder = await hostFolder()
  const lock = await lockFolder(folder, nowSeconds)
  for (const path of [folder.lock, folder.holder]) expect((await stat(path)).mode & 0o777).toBe(0o600)
  await expect(lockFolder(folder, nowSeconds)).rejects.toThrow(
    `${folder.path} is in use by process ${process.pid} since 2023-11-14T22:13:20.000Z. One host runs in a folder at a time.`,
  )
  // The failed try has not freed it.
  expect((await locking(folder.path)).line).toContain(`process ${process.pid}`)
  lock.release()
  const again = await lockFolder(folder, nowSeconds)
  onTestFinished(() => again.release())
})
