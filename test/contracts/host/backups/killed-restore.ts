import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { undoRestore } from '../../../../src/host/flows/backups/switch-generation.js'
import { setVariable } from '../../../../src/host/flows/spaces/environment.js'
import { readSpaces } from '../../../../src/host/flows/spaces/find-space.js'
import { settleGenerations } from '../../../../src/host/spaces/settle-generations.js'
import type { BackupBed } from '../../../support/backup-bed.js'
import { restoreNow, space } from '../../../support/backup-process.js'
import { backUpNow, backupWorld, inForce, openBackups, program } from '../../../support/backup-world.js'
import { admin, type HostFolder } from '../../../support/space-world.js'
import { bundleSource } from '../../../support/storage-threads.js'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 })

const source = fileURLToPath(new URL('../../../support/killed-restore.ts', import.meta.url))

/** What the former and the restored generation hold: notes, pairs, fields with an index. */
const contents = { old: 'a2 kold n', restored: 'a1,b1 know n' }

/** A host whose space has data that changed since its backup. */
interface Prepared {
  host: HostFolder
  archive: Buffer
  highest: number
}

async function prepare(bed: BackupBed): Promise<Prepared> {
  const world = await backupWorld(undefined, bed)
  const { ports, data, host } = world
  const write = (id: string, n: number) => data.documents.put('notes', id, JSON.stringify({ _id: id, n }), 'any')
  for (const id of ['a', 'b']) await write(id, 1)
  await data.indexes.create('notes', 'n', false)
  await data.indexes.build('notes', 'n')
  await data.keyValues.set({ keyspace: '', key: 'k' }, 'now', null)
  await setVariable(ports, { space, variable: { name: 'A', value: 'one', encrypted: false }, visitor: admin })
  const archive = await backUpNow(ports)
  await setVariable(ports, { space, variable: { name: 'A', value: 'two', encrypted: false }, visitor: admin })
  const highest = await write('a', 2)
  await data.documents.remove('notes', 'b', 'any')
  await data.keyValues.set({ keyspace: '', key: 'k' }, 'old', null)
  await world.close()
  await writeFile(join(host.path, 'archive.tar.gz'), archive)
  return { host, archive, highest }
}

/** The next process of the host. */
async function startedAnew(host: HostFolder) {
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

async function expectWhole(survivor: Survivor, highest: number): Promise<void> {
  const { ports, id } = survivor
  const found = await ports.spaces.find(id)
  const content = await contentOf(survivor)
  expect(Object.values(contents)).toContain(content)
  expect(ports.children.running.get(id)).toMatchObject({ generation: found?.generation, release: found?.release })
  const { variables = [] } = (await ports.environment.read(id)) ?? {}
  expect(variables).toHaveLength(1)
  const version = await (await inForce(ports, id)).documents.put('notes', 'new', '{"_id":"new"}', 'absent')
  expect(version).toBeGreaterThan(highest)
  await (await inForce(ports, id)).documents.remove('notes', 'new', 'any')
}

/** A restore that is killed leaves the data whole, wherever it is. */
export function killedRestores(name: string, bed: BackupBed): void {
  describe(`on ${name}`, () => {
    const place = { folder: '', script: '' }
    beforeAll(async () => {
      place.folder = await mkdtemp(join(tmpdir(), 'latchkey-killed-'))
      place.script = join(place.folder, 'restore.mjs')
      await writeFile(place.script, await bundleSource(`import ${JSON.stringify(source)}`))
    })
    afterAll(() => rm(place.folder, { recursive: true, force: true }))

    async function copied({ host }: Prepared): Promise<HostFolder> {
      const copy = await bed.copied(host)
      await writeFile(join(copy.path, 'killed.json'), JSON.stringify({ ...copy, program: program.href }))
      return copy
    }

    async function allCalls(prepared: Prepared, kind: string): Promise<string[]> {
      const host = await copied(prepared)
      const { stdout } = await promisify(execFile)(process.execPath, [place.script, host.path, kind])
      await bed.remove(host)
      return JSON.parse(stdout)
    }

    async function killedAt({ path }: HostFolder, kind: string, at: number): Promise<unknown> {
      const child = spawn(process.execPath, [place.script, path, kind, String(at)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const [, signal] = await once(child, 'exit')
      return signal
    }

    /** Kills the change at each of its calls, and starts the host anew when the lease of the killed process is over. */
    async function eachKilled(prepared: Prepared, kind: string, then: (survivor: Survivor) => Promise<unknown>) {
      const calls = await allCalls(prepared, kind)
      for (const [at, call] of calls.entries()) {
        const host = await copied(prepared)
        expect([call, await killedAt(host, kind, at)]).toEqual([call, 'SIGKILL'])
        await bed.pass(host, 15_000)
        const survivor = await startedAnew(host)
        try {
          await expectWhole(survivor, prepared.highest)
          const kept = await bed.kept(host, survivor.id)
          expect(kept.filter((name) => !/^g\d+$/.test(name))).toEqual([])
          await then(survivor)
        } catch (error) {
          throw new Error(`killed before ${call}, call ${at}: ${String(error)}`, { cause: error })
        }
        await survivor.close()
        await bed.remove(host)
      }
      return calls.length
    }

    test('ATK-169 a restore that is killed at any of its calls leaves the old or the new generation, whole', async () => {
      const prepared = await prepare(bed)
      const seen = new Set<string>()
      const killed = await eachKilled(prepared, 'restore', async (survivor) => {
        seen.add(await contentOf(survivor))
        // What was killed is in nobody's way.
        await restoreNow(survivor.ports, prepared.archive)
        expect(await contentOf(survivor)).toBe(contents.restored)
      })
      expect(killed).toBeGreaterThan(20)
      expect([...seen].toSorted()).toEqual(Object.values(contents).toSorted())
    })

    test('ATK-169 an undo that is killed at any of its calls leaves one of both generations, whole', async () => {
      const prepared = await prepare(bed)
      const restored = await startedAnew(prepared.host)
      await restoreNow(restored.ports, prepared.archive)
      await restored.close()
      const seen = new Set<string>()
      await eachKilled(prepared, 'undo', async (survivor) => {
        const before = await contentOf(survivor)
        seen.add(before)
        await undoRestore(survivor.ports, { space, visitor: admin })
        expect(await contentOf(survivor)).not.toBe(before)
        await expectWhole(survivor, prepared.highest)
      })
      expect([...seen].toSorted()).toEqual(Object.values(contents).toSorted())
    })
  })
}
