import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { openProcessFacts } from '../../../src/host/children/process-facts.js'
import { openRunFolder } from '../../../src/host/children/run-folder.js'
import { createRandom } from '../../../src/lib/random.js'
import { hashOfRelease, mingo } from '../../support/space-release.js'
import { isAlive, openSupervisedWorkshop, type SupervisedWorkshop } from '../../support/supervised.js'

const random = createRandom()
const sleepers: ChildProcess[] = []

let workshop: SupervisedWorkshop
let program: string
beforeAll(async () => {
  workshop = await openSupervisedWorkshop()
  program = join(workshop.folder, 'supervising-process.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('../../support/supervising-process.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  })
})
afterEach(() => {
  for (const sleeper of sleepers.splice(0)) sleeper.kill('SIGKILL')
})
afterAll(() => workshop.close())

/** A process that does nothing. */
async function sleeper(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  sleepers.push(child)
  await once(child, 'spawn')
  return child.pid ?? 0
}

interface Supervising {
  host: ChildProcess
  pid: number
  /** What host and child have printed. */
  output(): string
}

async function startSupervising(runFolder: string, bundle: string): Promise<Supervising> {
  const releaseFolder = await workshop.release(bundle)
  const temporaryFolder = join(workshop.folder, 'tmp')
  const { runner } = workshop
  const hash = await hashOfRelease(releaseFolder)
  const sent = { runFolder, runner, mingo, releaseFolder, temporaryFolder, hash }
  const host = spawn(process.execPath, [program, JSON.stringify(sent)], { stdio: ['ignore', 'pipe', 'inherit'] })
  sleepers.push(host)
  let output = ''
  host.stdout.on('data', (chunk) => {
    output += chunk
  })
  await vi.waitFor(() => expect(output).toMatch(/^pid \d+$/m), { timeout: 20_000 })
  return { host, pid: Number(/^pid (\d+)$/m.exec(output)?.[1]), output: () => output }
}

describe('kill -9 of the process that supervises', () => {
  test.each([
    ['serves', 'prints', 'started'],
    ['loops endlessly', 'loops-later', 'looping'],
  ])('ends a child that %s', async (_what, bundle, line) => {
    const runFolder = await mkdtemp(join(workshop.folder, 'run-'))
    const { host, pid, output } = await startSupervising(runFolder, bundle)
    await vi.waitFor(() => expect(output()).toContain(line), { timeout: 10_000 })
    expect(await isAlive(pid)).toBe(true)
    host.kill('SIGKILL')
    await once(host, 'exit')
    await expect.poll(() => isAlive(pid)).toBe(false)
    // The next host removes the pid file and the socket.
    expect(await readdir(runFolder)).toHaveLength(2)
  })
})

describe('leftovers of an earlier host', () => {
  test('are killed when id and start match, and only then', async () => {
    const facts = await openProcessFacts()
    const folder = await mkdtemp(join(workshop.folder, 'run-'))
    const [ours, foreign, damaged] = [await sleeper(), await sleeper(), await sleeper()]
    const notes = {
      'a-1.pid': `${ours} ${await facts.startOf(ours)}\n`,
      'b-1.pid': `${foreign} 1@${(await facts.startOf(foreign))?.split('@')[1]}\n`,
      'c-1.pid': `${damaged}`,
      'd-1.pid': '',
      'e-1.pid': `${process.pid} \n`,
      'f-1.pid': `4194303 ${await facts.startOf(ours)}\n`,
      'x.sock': '',
      other: 'stays',
    }
    for (const [name, text] of Object.entries(notes)) await writeFile(join(folder, name), text)
    await mkdir(join(folder, 'probe-x'))
    await writeFile(join(folder, 'probe-x/bundle.mjs'), '')
    await openRunFolder(folder, random, facts)
    expect(await isAlive(ours)).toBe(false)
    expect(await isAlive(foreign)).toBe(true)
    expect(await isAlive(damaged)).toBe(true)
    expect(await readdir(folder)).toEqual(['other'])
  })

  test('a note of a running child is one that the next host would find', async () => {
    const facts = await openProcessFacts()
    const folder = join(workshop.folder, 'run-notes')
    const run = await openRunFolder(folder, random, facts)
    const pid = await sleeper()
    const file = await run.note('space', pid)
    expect(await readFile(file, 'utf8')).toBe(`${pid} ${await facts.startOf(pid)}\n`)
    await openRunFolder(folder, random, facts)
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
})

describe('the run folder', () => {
  test('ATK-184 is refused when its path makes sockets longer than 103 bytes, and the fault names it', async () => {
    const facts = await openProcessFacts()
    const longest = 103 - '/'.length - 22 - '.sock'.length
    const long = join(workshop.folder, 'x'.repeat(longest - workshop.folder.length))
    const fault = { name: 'SettingsError', faults: [{ setting: 'data', message: expect.stringContaining(long) }] }
    await expect(openRunFolder(long, random, facts)).rejects.toMatchObject(fault)
    const fits = long.slice(0, -1)
    await mkdir(fits)
    const run = await openRunFolder(fits, random, facts)
    expect(Buffer.byteLength(run.newSocketPath())).toBe(103)
    await expect(openRunFolder(`${fits.slice(0, -1)}ä`, random, facts)).rejects.toThrow('has 104 bytes')
  })

  test('ATK-158 ATK-184 names sockets by 128 random bits, new each time', async () => {
    const folder = await mkdtemp(join(workshop.folder, 'run-'))
    const run = await openRunFolder(folder, random, await openProcessFacts())
    const names = Array.from({ length: 100 }, () => run.newSocketPath().slice(folder.length + 1))
    expect(new Set(names).size).toBe(100)
    for (const name of names) expect(name).toMatch(/^[\w-]{22}\.sock$/)
  })
})

describe('close', () => {
  test('lets running requests end, then all processes; nothing is left and nothing starts', async () => {
    const host = await workshop.open()
    for (const spaceId of ['a', 'b', 'c']) host.deployed.set(spaceId, { bundle: 'prints' })
    const pids = await Promise.all(['a', 'b'].map(async (spaceId) => (await host.supervisor.start(spaceId)).pid))
    const slow = host.ask('a', '/dev/slow/1000')
    const late = host.supervisor.start('c').catch((error: unknown) => error)
    await host.ask('b', '/dev/release')
    await host.supervisor.close()
    expect(await slow).toMatchObject({ status: 200, text: 'slow' })
    expect(await late).toMatchObject({ code: 'application_starting' })
    expect(await Promise.all(pids.map(isAlive))).toEqual([false, false])
    expect(await readdir(host.runFolder)).toEqual([])
    expect(host.open.size).toBe(0)
    await expect(host.supervisor.child('a')).rejects.toMatchObject({ code: 'application_starting' })
    await expect(host.supervisor.start('a')).rejects.toMatchObject({ code: 'application_starting' })
    host.supervisor.startAll(['a'])
    expect(host.supervisor.status('a').state).toBe('stopped')
  })

  test('a child that dies while its space is stopped is not started again', async () => {
    const host = await workshop.open()
    host.deployed.set('dev', { bundle: 'prints' })
    const { pid } = await host.supervisor.start('dev')
    const slow = host.ask('dev', '/dev/slow/60000').catch(() => 'cut')
    await host.ask('dev', '/dev/release')
    const stopped = host.supervisor.stop('dev')
    process.kill(pid, 'SIGKILL')
    await stopped
    expect(await slow).toBe('cut')
    expect(host.supervisor.status('dev')).toMatchObject({ state: 'stopped', pid: null, restarts: 0 })
    expect(await readdir(host.runFolder)).toEqual([])
    await host.supervisor.start('dev')
    expect((await host.ask('dev', '/dev/release')).status).toBe(200)
  })

  test('remove forgets the log of the space as well', async () => {
    const host = await workshop.open()
    host.deployed.set('dev', { bundle: 'prints' })
    await host.supervisor.start('dev')
    await expect.poll(() => host.log('dev')).toContain('started')
    await host.supervisor.remove('dev')
    expect(host.log('dev')).toBe('')
    expect(await readdir(host.runFolder)).toEqual([])
  })
})
