import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { takeOver } from '../../../src/host/flows/spaces/claim.js'
import { deploy } from '../../../src/host/flows/spaces/deploy.js'
import { setVariable } from '../../../src/host/flows/spaces/environment.js'
import type { SpacePorts } from '../../../src/host/flows/spaces/ports.js'
import { activateRelease, listReleases, undeploy } from '../../../src/host/flows/spaces/releases.js'
import { createSpace, removeSpace } from '../../../src/host/flows/spaces/spaces.js'
import type { ReleaseStep } from '../../../src/host/flows/spaces/switch-release.js'
import { createSpaceFiles } from '../../../src/host/releases/space-files.js'
import type { Visitor } from '../../../src/model/visitor.js'
import { archiveOf, releaseContents } from '../../support/release-archive.js'
import {
  admin,
  archiveWith,
  faultyCode,
  type HostFolder,
  hostFolder,
  inPieces,
  openProcess,
  type SpaceProcess,
} from '../../support/space-world.js'

const space = 'dev'

async function aSpace(): Promise<{ host: HostFolder; id: string; process: SpaceProcess }> {
  const host = await hostFolder()
  const process = await openProcess(host)
  const { id } = await createSpace(process.ports, { name: space, visitor: admin })
  return { host, id, process }
}

/** Deploys a release with this code, and returns the steps that were reported. */
async function deployed({ ports }: SpaceProcess, code: string): Promise<ReleaseStep['step'][]> {
  const steps: ReleaseStep['step'][] = []
  const deployment = { space, archive: await archiveWith(code), dirty: null, visitor: admin }
  await deploy(ports, deployment, ({ step }) => void steps.push(step))
  return steps
}

const activate = ({ ports }: SpaceProcess, number: number) =>
  activateRelease(ports, { space, number, visitor: admin }, () => {})

async function statesOf({ ports }: SpaceProcess): Promise<string[]> {
  return (await listReleases(ports, space)).map(({ number, state }) => `${number} ${state}`)
}

async function foldersOf(host: HostFolder, id: string): Promise<string[]> {
  return (await readdir(join(host.path, 'spaces', id, 'releases'))).toSorted()
}

async function eventsOf({ store }: SpaceProcess): Promise<unknown[]> {
  const events = await store.audit.list({ limit: 50 })
  return events.map(({ event, outcome, detail }) => [event, outcome, detail.release]).toReversed()
}

test('a release is uploaded, started and in force, in this order', async () => {
  const { host, id, process } = await aSpace()
  expect(process.ports.directory.find(space)).toBeNull()
  expect(await deployed(process, 'first')).toEqual(['uploaded', 'started', 'serving'])
  expect(await listReleases(process.ports, space)).toEqual([
    {
      number: 1,
      state: 'current',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes: expect.any(Number),
      git: null,
      dirty: null,
      tool: '1.0.0',
      author: { kind: 'user', id: 'ann' },
      createdAt: '2023-11-14T22:13:20.000Z',
      fault: null,
    },
  ])
  expect(process.ports.children.running.get(id)).toMatchObject({ name: space, release: 1, generation: 1, env: {} })
  expect(process.ports.directory.find(space)).toMatchObject({ id, name: space })
  expect(await foldersOf(host, id)).toEqual(['1'])
  expect(await eventsOf(process)).toEqual([
    ['space_created', 'success', undefined],
    ['released', 'success', 1],
  ])
})

test('ATK-162 a release that does not start leaves the former one in force, and is listed with its fault', async () => {
  const { id, process } = await aSpace()
  await deployed(process, 'first')
  await expect(deployed(process, faultyCode)).rejects.toMatchObject({ code: 'bundle_invalid' })
  expect(await statesOf(process)).toEqual(['2 failed', '1 current'])
  expect((await listReleases(process.ports, space))[0]?.fault).toBe('It throws at import. (index.js:1:7)')
  expect(process.ports.children.running.get(id)?.release).toBe(1)
  expect((await eventsOf(process)).at(-1)).toEqual(['released', 'failure', 2])
  await deployed(process, 'third')
  expect(await statesOf(process)).toEqual(['3 current', '2 failed', '1 former'])
})

/** An archive that arrives to its half, and then when `goOn` is called. */
async function haltedArchive(code: string) {
  const archive = await archiveWith(code)
  let goOn = () => {}
  const halted = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let isHalfRead = false

  async function* pieces() {
    let at = 0
    for await (const piece of archive) {
      at += 1
      isHalfRead = at === 2
      if (isHalfRead) await halted
      yield piece
    }
  }
  return { pieces: pieces(), goOn, isHalfRead: () => isHalfRead }
}

test('ATK-238 an upload that takes long keeps no change waiting, and goes on afterwards', async () => {
  const { process, host, id } = await aSpace()
  await deployed(process, 'first')
  const { pieces, goOn, isHalfRead } = await haltedArchive('slow')
  const slow = deploy(process.ports, { space, archive: pieces, dirty: null, visitor: admin }, () => {})
  await expect.poll(isHalfRead).toBe(true)
  expect((await process.nouns.spaces.findByName(space))?.busyWith).toBeNull()
  await setVariable(process.ports, { space, variable: { name: 'A', value: 'b', encrypted: true }, visitor: admin })
  await deployed(process, 'second')
  await activate(process, 1)
  await undeploy(process.ports, { space, confirm: space, visitor: admin })
  await deployed(process, 'third')
  // Deploys tidy what is no release, and leave the upload.
  expect((await foldersOf(host, id)).filter((name) => name.startsWith('draft-'))).toHaveLength(1)
  goOn()
  expect(await slow).toMatchObject({ release: 4 })
  expect(await statesOf(process)).toEqual(['4 current', '3 former'])
  expect(await foldersOf(host, id)).toEqual(['3', '4'])
})

test('ATK-238 a space that is removed during an upload stays gone, and the upload ends', async () => {
  const { process, host, id } = await aSpace()
  const { pieces, goOn, isHalfRead } = await haltedArchive('slow')
  const slow = deploy(process.ports, { space, archive: pieces, dirty: null, visitor: admin }, () => {})
  const outcome = expect(slow).rejects.toBeTruthy()
  await expect.poll(isHalfRead).toBe(true)
  await removeSpace(process.ports, { name: space, confirm: space, visitor: admin })
  goOn()
  await outcome
  expect(await readdir(join(host.path, 'spaces'))).not.toContain(id)
})

/** Deploys, and stops when its child is to start. */
async function haltedStart({ ports }: SpaceProcess, code: string) {
  const { children } = ports
  const { start } = children
  let goOn = () => {}
  const halted = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let isStarting = false
  children.start = async (...release) => {
    children.start = start
    isStarting = true
    await halted
    return start(...release)
  }
  const deployment = { space, archive: await archiveWith(code), dirty: null, visitor: tokenVisitor }
  const outcome = deploy(ports, deployment, () => {}).then(
    () => 'done',
    (error: unknown) => error,
  )
  await expect.poll(() => isStarting).toBe(true)
  return { goOn, outcome }
}

const tokenVisitor: Visitor = { ...admin, actor: { kind: 'adminToken', tokenId: 'a41f3c0d9e8b7a65' } }

test('ATK-238 a refused change names who holds the space and since when, to an admin token only what kind it is', async () => {
  const { process } = await aSpace()
  const { goOn, outcome } = await haltedStart(process, 'first')
  const since = 'under way since 2023-11-14T22:13:20.000Z'
  await expect(deployed(process, 'second')).rejects.toMatchObject({
    code: 'space_busy',
    message: `A deploy of this space by adminToken is ${since}. Try again when it has ended, or take it over.`,
  })
  const archive = await archiveWith('third')
  await expect(
    deploy(process.ports, { space, archive, dirty: null, visitor: tokenVisitor }, () => {}),
  ).rejects.toMatchObject({
    code: 'space_busy',
    message: `A deploy of this space by an admin token is ${since}. Try again when it has ended.`,
  })
  goOn()
  expect(await outcome).toBe('done')
})

test('ATK-238 what is taken over changes nothing any more, and the one who took it over goes on', async () => {
  const { process, id } = await aSpace()
  await deployed(process, 'first')
  const { ports, passTime, store } = process
  const { goOn, outcome } = await haltedStart(process, 'second')
  expect(await takeOver(ports, { space, visitor: admin })).toEqual({
    kind: 'deploy',
    by: { kind: 'adminToken', id: 'a41f3c0d9e8b7a65' },
    since: '2023-11-14T22:13:20.000Z',
  })
  // The space is kept for who took it over.
  const bob: Visitor = { ...admin, actor: { kind: 'user', userId: 'bob', sessionId: 'b', impersonating: null } }
  await expect(undeploy(ports, { space, confirm: space, visitor: bob })).rejects.toMatchObject({ code: 'space_busy' })
  await setVariable(ports, { space, variable: { name: 'A', value: 'b', encrypted: false }, visitor: admin })
  goOn()
  expect(await outcome).toMatchObject({ code: 'not_current' })
  expect(await statesOf(process)).toEqual(['2 failed', '1 current'])
  await expect
    .poll(async () => {
      await passTime()
      return ports.children.running.get(id)?.release
    })
    .toBe(1)
  await expect(takeOver(ports, { space, visitor: admin })).rejects.toMatchObject({ code: 'not_found' })
  const events = await store.audit.list({ limit: 3 })
  expect(events.map(({ event }) => event)).toContain('space_taken_over')
  expect(events.find(({ event }) => event === 'space_taken_over')).toMatchObject({
    actor: { kind: 'user', userId: 'ann' },
    detail: { change: 'deploy', holder: 'adminToken', holderId: 'a41f3c0d9e8b7a65', space },
  })
})

test('ATK-192 a deploy whose lease ran out loses to the next one, also when its child starts last', async () => {
  const { host, id, process } = await aSpace()
  const { children } = process.ports
  const { start } = children
  let goOn = () => {}
  const paused = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let isStarting = false
  children.start = async (...release) => {
    children.start = start
    isStarting = true
    await paused
    return start(...release)
  }
  const overtaken = deployed(process, 'first')
  const outcome = expect(overtaken).rejects.toMatchObject({ code: 'not_current' })
  await expect.poll(() => isStarting).toBe(true)
  host.clock.nowMs += 15_000
  await deployed(process, 'second')
  goOn()
  await outcome
  expect(await statesOf(process)).toEqual(['2 current', '1 failed'])
  // What was lost waits for its turn before it makes the child agree with the store.
  await expect
    .poll(async () => {
      await process.passTime()
      return children.running.get(id)?.release
    })
    .toBe(2)
  expect((await eventsOf(process)).slice(1)).toEqual([['released', 'success', 2]])
})

test('ATK-192 of twenty changes at once, one works, and the others are refused', async () => {
  const { process } = await aSpace()
  await deployed(process, 'first')
  const { ports } = process
  const kinds = [
    () => deployed(process, 'next'),
    () => activate(process, 1),
    () => undeploy(ports, { space, confirm: space, visitor: admin }),
    () => setVariable(ports, { space, variable: { name: 'A', value: 'b', encrypted: true }, visitor: admin }),
    () => removeSpace(ports, { name: space, confirm: space, visitor: admin }),
  ]
  for (const first of kinds.keys()) {
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const { take } = process.nouns.claims
    // Each takes its claim before the first one ends.
    let asked = 0
    const claims: SpacePorts['claims'] = {
      ...process.nouns.claims,
      async take(...claim) {
        const taken = await take(...claim)
        asked += 1
        if (asked === 20) open()
        if (taken && 'epoch' in taken) await opened
        return taken
      },
    }
    const former = ports.claims
    ports.claims = claims
    const order = Array.from({ length: 20 }, (_, index) => kinds[(index + first) % kinds.length])
    const all = await Promise.allSettled(order.map((change) => change?.()))
    ports.claims = former
    const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []))
    expect(refused).toEqual(Array(19).fill('space_busy'))
    if (!(await process.nouns.spaces.findByName(space))) await createSpace(ports, { name: space, visitor: admin })
    await deployed(process, 'again')
  }
})

test('ATK-192 an upload that breaks off changes nothing, at whatever byte', async () => {
  const { host, id, process } = await aSpace()
  await deployed(process, 'first')
  const archive = await archiveOf({ ...releaseContents, 'bundle.mjs': 'second' })
  for (const end of [0, 1, 200, archive.length - 1]) {
    async function* broken() {
      yield* inPieces(archive.subarray(0, end))
      throw new Error('The client has left.')
    }
    const upload = deploy(process.ports, { space, archive: broken(), dirty: null, visitor: admin }, () => {})
    await expect(upload).rejects.toThrow('The client has left.')
    const cleanEnd = { space, archive: inPieces(archive.subarray(0, end)), dirty: null, visitor: admin }
    await expect(deploy(process.ports, cleanEnd, () => {})).rejects.toMatchObject({ code: 'bundle_invalid' })
  }
  expect(await statesOf(process)).toEqual(['1 current'])
  expect(await foldersOf(host, id)).toEqual(['1'])
  expect(await eventsOf(process)).toHaveLength(2)
})

test('a disk that is nearly full refuses the upload before it is read', async () => {
  const { host, process } = await aSpace()
  const files = createSpaceFiles(host.path, { mayWrite: () => false })
  let isRead = false
  async function* archive() {
    isRead = true
    yield Buffer.from('')
  }
  const refused = deploy(
    { ...process.ports, files },
    { space, archive: archive(), dirty: null, visitor: admin },
    () => {},
  )
  await expect(refused).rejects.toMatchObject({ code: 'quota_exceeded' })
  expect(isRead).toBe(false)
})

test('a former release is activated by the same path; the current one is started again without an event', async () => {
  const { id, process } = await aSpace()
  await deployed(process, 'first')
  await deployed(process, 'second')
  await activate(process, 1)
  expect(await statesOf(process)).toEqual(['2 former', '1 current'])
  expect(process.ports.children.running.get(id)?.release).toBe(1)
  expect((await eventsOf(process)).at(-1)).toEqual(['rolled_back', 'success', 1])

  const [events, starts] = [await eventsOf(process), process.ports.children.starts.length]
  await activate(process, 1)
  expect(process.ports.children.starts).toHaveLength(starts + 1)
  expect(await eventsOf(process)).toEqual(events)
  await expect(activate(process, 9)).rejects.toMatchObject({ code: 'not_found' })
})

test('the newest releases are kept, and the one in force', async () => {
  const { host, id, process } = await aSpace()
  process.ports.limits = { ...process.ports.limits, releases: 2 }
  for (const code of ['1', '2', '3']) await deployed(process, code)
  expect(await statesOf(process)).toEqual(['3 current', '2 former'])
  await activate(process, 2)
  for (const code of [faultyCode, faultyCode]) await deployed(process, code).catch(() => {})
  await deployed(process, '6')
  expect(await statesOf(process)).toEqual(['6 current', '5 failed'])
  expect(await foldersOf(host, id)).toEqual(['5', '6'])
})

test('what a killed deploy has left goes with the next one', async () => {
  const { host, id, process } = await aSpace()
  await deployed(process, 'first')
  for (const name of ['7', '8.part', 'notes']) {
    await mkdir(join(host.path, 'spaces', id, 'releases', name))
    await writeFile(join(host.path, 'spaces', id, 'releases', name, 'bundle.mjs'), 'half')
  }
  await deployed(process, 'second')
  expect(await foldersOf(host, id)).toEqual(['1', '2', 'notes'])
})

test('undeploying takes the code away and nothing else', async () => {
  const { host, id, process } = await aSpace()
  const { ports } = process
  await deployed(process, 'first')
  const wrong = undeploy(ports, { space, confirm: 'prod', visitor: admin })
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_request' })
  await undeploy(ports, { space, confirm: space, visitor: admin })
  expect([await statesOf(process), await foldersOf(host, id)]).toEqual([[], []])
  expect([ports.children.running.has(id), ports.directory.find(space), ports.directory.isSpace(space)]).toEqual([
    false,
    null,
    true,
  ])
  const again = undeploy(ports, { space, confirm: space, visitor: admin })
  await expect(again).rejects.toMatchObject({ code: 'not_found' })
  expect((await eventsOf(process)).at(-1)).toEqual(['undeployed', 'success', 1])
  await deployed(process, 'second')
  expect(await statesOf(process)).toEqual(['2 current'])
})

test('ATK-192 a caller that was judged for a removed space does not reach the one that got its name', async () => {
  const { process, id } = await aSpace()
  await deployed(process, 'first')
  const visitor = { ...admin, space: { id, name: space } }
  await removeSpace(process.ports, { name: space, confirm: space, visitor: admin })
  await createSpace(process.ports, { name: space, visitor: admin })
  const late = deploy(process.ports, { space, archive: await archiveWith('late'), dirty: null, visitor }, () => {})
  await expect(late).rejects.toMatchObject({ code: 'space_not_found' })
})
