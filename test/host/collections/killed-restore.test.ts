import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { undoRestore } from '../../../src/host/flows/backups/undo-restore.js'
import { setVariable } from '../../../src/host/flows/spaces/environment.js'
import { readSpaces } from '../../../src/host/flows/spaces/open-directory.js'
import { settleGenerations } from '../../../src/host/spaces/settle-generations.js'
import { restoreNow, space } from '../../support/backup-process.js'
import { backUpNow, backupWorld, inForce, openBackups, program } from '../../support/backup-world.js'
import { admin, type HostFolder } from '../../support/space-world.js'
import { bundleSource } from '../../support/storage-threads.js'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 })

const source = fileURLToPath(new URL('../../support/killed-restore.ts', import.meta.url))
const place = { folder: '', script: '', highest: 0, host: { path: '', clock: { nowMs: 0 }, masterKey: { text: '' } } }
let archive: Buffer = Buffer.alloc(0)

beforeAll(async () => {
  place.folder = await mkdtemp(join(tmpdir(), 'latchkey-killed-'))
  place.script = join(place.folder, 'restore.mjs')
  await writeFile(place.script, await bundleSource(`import ${JSON.stringify(source)}`))
})
afterAll(() => rm(place.folder, { recursive: true, force: true }))

/** What the former and the restored generation hold: notes, pairs, fields with an index. */
const contents = { old: 'a2 kold n', restored: 'a1,b1 know n' }

/** A folder with a space whose data has changed since its backup. */
async function prepare(): Promise<void> {
  const world = await backupWorld()
  const { ports, data, host } = world
  const write = (id: string, n: number) => data.documents.put('notes', id, JSON.stringify({ _id: id, n }), 'any')
  for (const id of ['a', 'b']) await write(id, 1)
  await data.indexes.create('notes', 'n', false)
  await data.indexes.build('notes', 'n')
  await data.keyValues.set({ keyspace: '', key: 'k' }, 'now', null)
  await setVariable(ports, { space, variable: { name: 'A', value: 'one', encrypted: false }, visitor: admin })
  archive = await backUpNow(ports)
  await setVariable(ports, { space, variable: { name: 'A', value: 'two', encrypted: false }, visitor: admin })
  place.highest = await write('a', 2)
  await data.documents.remove('notes', 'b', 'any')
  await data.keyValues.set({ keyspace: '', key: 'k' }, 'old', null)
  await world.close()
  const prepared = join(place.folder, 'prepared')
  await cp(host.path, prepared, { recursive: true })
  await writeFile(join(prepared, 'archive.tar.gz'), archive)
  place.host = { ...host, path: prepared }
  await writeFile(join(prepared, 'killed.json'), JSON.stringify({ ...host, program: program.href }))
}

async function copied(): Promise<HostFolder> {
  const path = await mkdtemp(join(place.folder, 'host-'))
  await cp(place.host.path, path, { recursive: true })
  return { ...place.host, clock: { ...place.host.clock }, path }
}

async function allCalls(kind: string): Promise<string[]> {
  const { path } = await copied()
  const { stdout } = await promisify(execFile)(process.execPath, [place.script, path, kind])
  return JSON.parse(stdout)
}

async function killedAt(path: string, kind: string, at: number): Promise<unknown> {
  const child = spawn(process.execPath, [place.script, path, kind, String(at)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [, signal] = await once(child, 'exit')
  return signal
}

/** The next process on the folder, after the lease of the killed one. */
async function startedAnew(host: HostFolder) {
  host.clock.nowMs += 15_000
  const opened = await openBackups(host)
  const { ports, folder, logger } = opened
  const spaces = await readSpaces(ports)
  await settleGenerations(ports, { folder, spaces, logger })
  const [{ id, release } = { id: '', release: null }] = spaces
  if (release !== null) await ports.children.start(id)
  return { ...opened, id }
}

type Survivor = Awaited<ReturnType<typeof startedAnew>>

async function contentOf({ ports, id }: Survivor): Promise<string> {
  const data = await inForce(ports, id)
  const { documents } = await data.documents.scan('notes', { after: null, reverse: false, limit: 100 })
  const notes = documents.map(({ body }) => body.replace(/\{"_id":"(.)","n":(\d)\}/, '$1$2'))
  const indexes = (await data.indexes.list('notes')).filter(({ state }) => state === 'ready')
  const pair = await data.keyValues.get({ keyspace: '', key: 'k' })
  return `${notes} k${pair} ${indexes.map(({ field }) => field)}`
}

async function expectWhole(survivor: Survivor): Promise<void> {
  const { ports, id, folder } = survivor
  const found = await ports.spaces.find(id)
  const content = await contentOf(survivor)
  expect(Object.values(contents)).toContain(content)
  expect(ports.children.running.get(id)).toMatchObject({ generation: found?.generation, release: found?.release })
  const { variables = [] } = (await ports.environment.read(id)) ?? {}
  expect(variables).toHaveLength(1)
  const names = await readdir(join(folder.spaces, id))
  expect(names.filter((name) => name.startsWith('draft') || name === 'lost')).toEqual([])
  const version = await (await inForce(ports, id)).documents.put('notes', 'new', '{"_id":"new"}', 'absent')
  expect(version).toBeGreaterThan(place.highest)
  await (await inForce(ports, id)).documents.remove('notes', 'new', 'any')
}

test('ATK-169 a restore that is killed at any of its calls leaves the old or the new generation, whole', async () => {
  await prepare()
  const calls = await allCalls('restore')
  expect(calls.length).toBeGreaterThan(20)
  const seen = new Set<string>()
  for (const [at, call] of calls.entries()) {
    const host = await copied()
    expect([call, await killedAt(host.path, 'restore', at)]).toEqual([call, 'SIGKILL'])
    const survivor = await startedAnew(host)
    await expectWhole(survivor).catch((error: unknown) => {
      throw new Error(`killed before ${call}, call ${at}: ${String(error)}`, { cause: error })
    })
    seen.add(await contentOf(survivor))
    // What was killed is in nobody's way.
    await restoreNow(survivor.ports, archive)
    expect(await contentOf(survivor)).toBe(contents.restored)
    await survivor.close()
    await rm(host.path, { recursive: true })
  }
  expect([...seen].toSorted()).toEqual(Object.values(contents).toSorted())
})

test('ATK-169 an undo that is killed at any of its calls leaves one of both generations, whole', async () => {
  await prepare()
  const restored = await startedAnew(place.host)
  await restoreNow(restored.ports, archive)
  await restored.close()
  const calls = await allCalls('undo')
  const seen = new Set<string>()
  for (const [at, call] of calls.entries()) {
    const host = await copied()
    expect([call, await killedAt(host.path, 'undo', at)]).toEqual([call, 'SIGKILL'])
    const survivor = await startedAnew(host)
    await expectWhole(survivor).catch((error: unknown) => {
      throw new Error(`killed before ${call}, call ${at}: ${String(error)}`, { cause: error })
    })
    const before = await contentOf(survivor)
    seen.add(before)
    await undoRestore(survivor.ports, { space, visitor: admin })
    expect(await contentOf(survivor)).not.toBe(before)
    await expectWhole(survivor)
    await survivor.close()
    await rm(host.path, { recursive: true })
  }
  expect([...seen].toSorted()).toEqual(Object.values(contents).toSorted())
})
