import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { storeUnavailable } from '../../../src/errors.js'
import { StoreError } from '../../../src/host/documents/store-error.js'
import type { BackupPorts } from '../../../src/host/flows/backups/ports.js'
import { undoRestore } from '../../../src/host/flows/backups/undo-restore.js'
import { restoreNow, space } from '../../support/backup-process.js'
import { backUpNow, backupWorld, inForce } from '../../support/backup-world.js'
import { countedPorts } from '../../support/counted-ports.js'
import { admin } from '../../support/space-world.js'

vi.setConfig({ testTimeout: 600_000 })

type World = Awaited<ReturnType<typeof backupWorld>>

/** A space whose note has changed since its backup, and which was restored once before an undo. */
async function prepared(kind: string): Promise<World & { archive: Buffer }> {
  const world = await backupWorld()
  const { ports, data } = world
  await data.documents.put('notes', 'a', '{"_id":"a","n":1}', 'any')
  await data.keyValues.set({ keyspace: '', key: 'k' }, '1', null)
  const archive = await backUpNow(ports)
  await data.documents.put('notes', 'a', '{"_id":"a","n":2}', 'any')
  if (kind === 'undo') await restoreNow(ports, archive)
  else await ports.children.start(world.id)
  return { ...world, archive }
}

const changes: Record<string, (ports: BackupPorts, archive: Buffer) => Promise<unknown>> = {
  restore: (ports, archive) => restoreNow(ports, archive, { release: true, settings: true }),
  undo: (ports) => undoRestore(ports, { space, visitor: admin }),
}

/** Nothing can fail there. */
const inMemory = ['data.allow', 'children.status']

/** One call fails before or after it was made. The next ones are made. */
async function runFailing(world: World & { archive: Buffer }, kind: string, at: number, how: string) {
  const { ports, calls } = countedPorts(world.ports, ({ number, path }, run) => {
    if (number !== at || inMemory.includes(path)) return run()
    const fault = path.startsWith('data.') ? new StoreError('store_unavailable', 'down') : storeUnavailable()
    const made = how === 'after' ? Promise.resolve(run()) : Promise.resolve()
    return made.then(() => Promise.reject(fault))
  })
  let isOver = false
  const running = Promise.resolve(changes[kind]?.(ports, world.archive)).then(
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
async function expectOneInForce({ ports, id, folder }: World): Promise<void> {
  const found = await ports.spaces.find(id)
  const data = await inForce(ports, id)
  expect([1, 2]).toContain((await documentIn(data)).n)
  const version = await data.documents.put('notes', 'b', '{"_id":"b"}', 'any')
  expect(version).toBeGreaterThan((await documentIn(data)).version)
  expect(ports.children.running.get(id)).toMatchObject({ release: found?.release, generation: found?.generation })
  for (const generation of [1, 2].filter((each) => each !== found?.generation)) {
    const { former } = (await ports.generations.read(id)) ?? {}
    if (former === generation) await expect(ports.data.open(id, generation)).rejects.toThrow('was replaced')
  }
  const names = await readdir(join(folder.spaces, id))
  expect(names).toContain(`g${found?.generation}.db`)
}

async function documentIn(data: Awaited<ReturnType<typeof inForce>>): Promise<{ n: number; version: number }> {
  const found = await data.documents.get('notes', 'a')
  return { n: JSON.parse(found?.body ?? '{}').n, version: found?.version ?? Number.NaN }
}

describe.each(Object.keys(changes))('ATK-169 %s', (kind) => {
  test.each(['before', 'after'])('a call that fails %s it was made leaves one generation in force', async (how) => {
    const outcomes = new Set<string>()
    for (let at = 0; ; at += 1) {
      const world = await prepared(kind)
      const { outcome, calls } = await runFailing(world, kind, at, how)
      if (calls.length <= at) break
      outcomes.add(outcome)
      // A claim whose release failed ends with its lease.
      world.host.clock.nowMs += 15_000
      for (let second = 0; second < 3; second += 1) await world.passTime()
      await expectOneInForce(world).catch((error: unknown) => {
        throw new Error(`failed ${how} ${calls[at]}, call ${at}: ${String(error)}`, { cause: error })
      })
      await restoreNow(world.ports, world.archive)
      expect((await documentIn(await inForce(world.ports, world.id))).n).toBe(1)
      const names = await readdir(join(world.folder.spaces, world.id))
      expect(names.filter((name) => name.startsWith('draft'))).toEqual([])
      await world.close()
    }
    expect([...outcomes].toSorted()).toEqual(['done', 'failed'])
  })
})
