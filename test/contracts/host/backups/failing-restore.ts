import { describe, expect, test, vi } from 'vitest'
import { storeUnavailable } from '../../../../src/errors.js'
import { StoreError } from '../../../../src/host/documents/store-error.js'
import type { BackupPorts } from '../../../../src/host/flows/backups/ports.js'
import { undoRestore } from '../../../../src/host/flows/backups/switch-generation.js'
import { readSpaces } from '../../../../src/host/flows/spaces/find-space.js'
import type { BackupBed } from '../../../support/backup-bed.js'
import { restoreNow, space } from '../../../support/backup-process.js'
import { backUpNow, backupWorld, inForce, openBackups } from '../../../support/backup-world.js'
import { countedPorts } from '../../../support/counted-ports.js'
import { admin, type HostFolder } from '../../../support/space-world.js'

vi.setConfig({ testTimeout: 600_000 })

type World = Awaited<ReturnType<typeof opened>>

/** A host with a backup of a space, whose note `n` was 1. */
async function prepare(bed: BackupBed): Promise<{ host: HostFolder; archive: Buffer }> {
  const { ports, data, host, close } = await backupWorld(undefined, bed)
  await data.documents.put('notes', 'a', '{"_id":"a","n":1}', 'any')
  await data.keyValues.set({ keyspace: '', key: 'k' }, '1', null)
  const archive = await backUpNow(ports)
  await close()
  return { host, archive }
}

/** The next process of the host, whose application runs. The note has changed; for an undo, it was restored after that. */
async function opened(host: HostFolder, archive: Buffer, kind: string) {
  const process = await openBackups(host)
  const { ports } = process
  const [{ id } = { id: '' }] = await readSpaces(ports)
  await ports.children.start(id)
  await (await inForce(ports, id)).documents.put('notes', 'a', '{"_id":"a","n":2}', 'any')
  if (kind === 'undo') await restoreNow(ports, archive)
  return { ...process, id, began: (await ports.spaces.find(id))?.generation ?? 0 }
}

const changes: Record<string, (ports: BackupPorts, archive: Buffer) => Promise<unknown>> = {
  restore: (ports, archive) => restoreNow(ports, archive, { release: true, settings: true }),
  undo: (ports) => undoRestore(ports, { space, visitor: admin }),
}

/** Nothing can fail there. */
const inMemory = ['data.allow', 'children.status']

/** One call fails before or after it was made. The next ones are made. */
async function runFailing(world: World, archive: Buffer, { kind, at, how }: { kind: string; at: number; how: string }) {
  const { ports, calls } = countedPorts(world.ports, ({ number, path }, run) => {
    if (number !== at || inMemory.includes(path)) return run()
    const fault = path.startsWith('data.') ? new StoreError('store_unavailable', 'down') : storeUnavailable()
    const made = how === 'after' ? Promise.resolve(run()) : Promise.resolve()
    return made.then(() => Promise.reject(fault))
  })
  let isOver = false
  const running = Promise.resolve(changes[kind]?.(ports, archive)).then(
    () => 'done',
    () => 'failed',
  )
  void running.then(() => {
    isOver = true
  })
  while (!isOver) await world.passTime()
  return { outcome: await running, calls }
}

/** The generation in force is whole and open, the child runs with it, and nothing else is left. */
async function expectOneInForce(bed: BackupBed, { ports, id, host, began }: World): Promise<void> {
  const found = await ports.spaces.find(id)
  const data = await inForce(ports, id)
  expect([1, 2]).toContain((await documentIn(data)).n)
  const version = await data.documents.put('notes', 'b', '{"_id":"b"}', 'any')
  expect(version).toBeGreaterThan((await documentIn(data)).version)
  expect(ports.children.running.get(id)).toMatchObject({ release: found?.release, generation: found?.generation })
  if (found?.generation !== began) await expect(ports.data.open(id, began)).rejects.toThrow('was replaced')
  expect(await bed.kept(host, id)).toContain(`g${found?.generation}`)
}

async function documentIn(data: Awaited<ReturnType<typeof inForce>>): Promise<{ n: number; version: number }> {
  const found = await data.documents.get('notes', 'a')
  return { n: JSON.parse(found?.body ?? '{}').n, version: found?.version ?? Number.NaN }
}

/** A call of a restore that fails leaves the data whole, wherever it is. */
export function failingRestores(name: string, bed: BackupBed): void {
  describe.each(Object.keys(changes))(`ATK-169 on ${name} %s`, (kind) => {
    test.each(['before', 'after'])('a call that fails %s it was made leaves one generation in force', async (how) => {
      const outcomes = new Set<string>()
      const { host, archive } = await prepare(bed)
      for (let at = 0; ; at += 1) {
        const world = await opened(host, archive, kind)
        const { outcome, calls } = await runFailing(world, archive, { kind, at, how })
        if (calls.length <= at) break
        outcomes.add(outcome)
        // A claim whose release failed ends with its lease.
        await bed.pass(world.host, 15_000)
        for (let second = 0; second < 3; second += 1) await world.passTime()
        await expectOneInForce(bed, world).catch((error: unknown) => {
          throw new Error(`failed ${how} ${calls[at]}, call ${at}: ${String(error)}`, { cause: error })
        })
        await restoreNow(world.ports, archive)
        expect((await documentIn(await inForce(world.ports, world.id))).n).toBe(1)
        expect((await bed.kept(world.host, world.id)).filter((name) => name.startsWith('draft'))).toEqual([])
        await world.close()
      }
      expect([...outcomes].toSorted()).toEqual(['done', 'failed'])
    })
  })
}
