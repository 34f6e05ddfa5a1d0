import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deploy } from '../../../src/host/flows/spaces/deploy.js'
import { setVariable } from '../../../src/host/flows/spaces/environment.js'
import { fillDirectory } from '../../../src/host/flows/spaces/find-space.js'
import type { SpacePorts } from '../../../src/host/flows/spaces/ports.js'
import { activateRelease, undeploy } from '../../../src/host/flows/spaces/releases.js'
import { createSpace, removeSpace, sweepRemovedSpaces } from '../../../src/host/flows/spaces/spaces.js'
import { newMasterKey } from '../../../src/host/sealing/master-keys.js'
import { type Interruption, interrupted, interruptions } from '../../support/interrupted-ports.js'
import {
  admin,
  archiveWith,
  type HostFolder,
  hostFolder,
  openOutsideTests,
  openProcess,
  type SpaceProcess,
} from '../../support/space-world.js'

const space = 'dev'

const deployed = async (ports: SpacePorts, code: string) =>
  deploy(ports, { space, archive: await archiveWith(code), dirty: null, visitor: admin }, () => {})

/** What is done to a space with the releases 1 (`first`) and 2 (`second`), of which 2 is in force. */
const changes: Record<string, (ports: SpacePorts) => Promise<unknown>> = {
  deploy: (ports) => deployed(ports, 'third'),
  activate: (ports) => activateRelease(ports, { space, number: 1, visitor: admin }, () => {}),
  undeploy: (ports) => undeploy(ports, { space, confirm: space, visitor: admin }),
  env: (ports) => setVariable(ports, { space, variable: { name: 'A', value: 'b', encrypted: false }, visitor: admin }),
  remove: (ports) => removeSpace(ports, { name: space, confirm: space, visitor: admin }),
}

/** The releases of which one is in force afterwards; null: none. */
const outcomes: Record<string, readonly (number | null)[]> = {
  deploy: [2, 3],
  activate: [2, 1],
  undeploy: [2, null],
  env: [2],
  remove: [2],
}

const codes: Record<number, string> = { 1: 'first', 2: 'second', 3: 'third' }

const prepared = { host: { path: '', clock: { nowMs: 0 }, masterKey: { text: '' } }, id: '' }

beforeAll(async () => {
  const path = await mkdtemp(join(tmpdir(), 'latchkey-prepared-'))
  const host = { path, clock: { nowMs: 1_700_000_000_000 }, masterKey: { text: newMasterKey() } }
  const { ports, store } = await openOutsideTests(host)
  const { id } = await createSpace(ports, { name: space, visitor: admin })
  for (const code of ['first', 'second']) await deployed(ports, code)
  await store.close()
  Object.assign(prepared, { host, id })
})

afterAll(() => rm(prepared.host.path, { recursive: true, force: true }))

/** A process on a copy of the prepared folder. */
async function ready(): Promise<{ host: HostFolder; id: string; process: SpaceProcess }> {
  const { id, host: original } = prepared
  const host = { ...(await hostFolder()), masterKey: original.masterKey }
  await cp(original.path, host.path, { recursive: true })
  return { host, id, process: await startedOn(host) }
}

/** Runs the change interrupted. Returns the calls; fewer than `at` when it was over before. */
async function run(process: SpaceProcess, kind: string, at: number, how: Interruption): Promise<string[]> {
  const { ports, calls } = interrupted(process.ports, at, how)
  await changes[kind]?.(ports).catch(() => {})
  return calls
}

/** A process that starts on this folder after the other one is gone, and after its lease. */
async function startedAnew(host: HostFolder): Promise<SpaceProcess> {
  host.clock.nowMs += 15_000
  return startedOn(host)
}

async function startedOn(host: HostFolder): Promise<SpaceProcess> {
  const process = await openProcess(host)
  await sweepRemovedSpaces(process.ports)
  for (const { id, release } of await fillDirectory(process.ports)) {
    if (release !== null) await process.ports.children.start(id)
  }
  return process
}

/** The child runs what is in force, whole, and the directory says so. */
async function expectOneInForce({ nouns, ports }: SpaceProcess, host: HostFolder, kind: string): Promise<void> {
  const found = await nouns.spaces.findByName(space)
  if (found === null) {
    expect(kind).toBe('remove')
    expect([ports.directory.isSpace(space), ports.children.running.size]).toEqual([false, 0])
    return
  }
  expect(outcomes[kind]).toContain(found.release)
  const running = ports.children.running.get(found.id)
  expect(running?.release ?? null).toBe(found.release)
  expect(ports.directory.find(space)?.id ?? null).toBe(found.release === null ? null : found.id)
  if (!running) return
  expect(await readFile(join(running.releaseFolder, 'bundle.mjs'), 'utf8')).toBe(codes[running.release])
  expect(running.releaseFolder.startsWith(host.path)).toBe(true)
}

/** After the next deploy, there is a folder for each listed release and nothing else. */
async function expectNothingHalf(process: SpaceProcess, host: HostFolder, removedId: string): Promise<void> {
  const { ports, nouns } = process
  if ((await nouns.spaces.findByName(space)) === null) {
    await sweepRemovedSpaces(ports)
    expect(await readdir(join(host.path, 'spaces'))).not.toContain(removedId)
    return
  }
  await deployed(ports, 'next')
  const found = await nouns.spaces.findByName(space)
  const listed = (await nouns.releases.list(found?.id ?? '')).map(({ number }) => String(number))
  expect((await readdir(await ports.files.releases(found?.id ?? ''))).toSorted()).toEqual(listed.toSorted())
  expect(ports.children.running.get(found?.id ?? '')?.release).toBe(found?.release)
}

describe.each(Object.keys(changes))('ATK-192 %s', (kind) => {
  test.each(interruptions)('%s at each step leaves the old or the new state, and nothing half', async (how) => {
    for (let at = 0; ; at += 1) {
      const { host, id, process } = await ready()
      const calls = await run(process, kind, at, how)
      if (calls.length <= at) break
      let survivor = process
      if (how === 'killed before') survivor = await startedAnew(host)
      else for (let second = 0; second < 3; second += 1) await process.passTime()
      await expectOneInForce(survivor, host, kind).catch((error: unknown) => {
        throw new Error(`${how} ${calls[at]}, call ${at}: ${String(error)}`, { cause: error })
      })
      // A claim whose release failed ends with its lease.
      host.clock.nowMs += 15_000
      await expectNothingHalf(survivor, host, id)
    }
  })
})
