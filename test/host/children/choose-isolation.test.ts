import { mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openChildSocket } from '../../../src/host/children/child-socket.js'
import { chooseIsolation } from '../../../src/host/children/choose-isolation.js'
import type { Isolation } from '../../../src/host/children/isolation.js'
import { openProcessFacts } from '../../../src/host/children/process-facts.js'
import { openRunFolder } from '../../../src/host/children/run-folder.js'
import { mountedAbove, systemMounts } from '../../../src/host/children/sandbox.js'
import { createRandom } from '../../../src/lib/random.js'
import { createWorld } from '../../../src/lib/runtime.js'
import { mingo } from '../../support/space-release.js'

const isRoot = process.getuid?.() === 0

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-choice-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function choose(asked: Partial<Parameters<typeof chooseIsolation>[0]>): Promise<Isolation> {
  const data = await temporary()
  const [facts, random] = [await openProcessFacts(), createRandom()]
  const run = await openRunFolder(join(data, 'run'), random, facts)
  const premises = { run, facts, random, world: createWorld(), runner: '/nowhere', mingo, lastInherited: 2 }
  return chooseIsolation({ wanted: 'auto', data, isNetworkForAll: true, hasWorked: false, premises, ...asked })
}

describe.skipIf(!isRoot)('a host that runs as root', () => {
  test('ATK-270 has no sandbox: auto warns with cause and cure, sandbox does not start', async () => {
    const { mode, absent } = await choose({})
    expect(mode).toBe('process')
    expect(absent?.cause).toContain('runs as root')
    expect(absent?.cure).toBe('Run the host as a user of its own.')
    await expect(choose({ wanted: 'sandbox' })).rejects.toThrow('runs as root')
  })

  test('ATK-278 does not start once the sandbox has worked, until process is written out', async () => {
    await expect(choose({ hasWorked: true })).rejects.toThrow('which does not work any more')
    expect((await choose({ hasWorked: true, wanted: 'process' })).mode).toBe('process')
  })
})

test('applications without a network need the sandbox', async () => {
  await expect(choose({ wanted: 'process', isNetworkForAll: false })).rejects.toThrow('can be switched off only in')
})

describe('ATK-279 the folder of a host', () => {
  let system: Awaited<ReturnType<typeof systemMounts>>
  beforeAll(async () => {
    system = await systemMounts()
  })

  test('is refused below what every sandbox shows', async () => {
    expect(await mountedAbove('/usr/lib', { mingo }, system)).toBe('/usr/lib')
    expect(await mountedAbove(mingo, { mingo }, system)).toMatch(/mingo$/)
    expect(await mountedAbove(await temporary(), { mingo }, system)).toBeNull()
  })

  test('is refused behind a link into it', async () => {
    const link = join(await temporary(), 'data')
    await symlink('/usr/lib', link)
    expect(await mountedAbove(link, { mingo }, system)).toBe('/usr/lib')
  })
})

test('ATK-272 a link in the place of the socket of a child changes nothing, and is refused before', async () => {
  const folder = await temporary()
  const [own, other] = [join(folder, 'own'), join(folder, 'other')]
  for (const path of [own, other]) {
    const server = createServer((socket) => socket.end(path)).listen(path)
    onTestFinished(() => void server.close())
  }
  const socket = await openChildSocket(own)
  if (socket === null) throw new Error('there is no socket')
  await rename(own, join(folder, 'moved'))
  await symlink(other, own)
  expect(await openChildSocket(own)).toBeNull()
  expect(await textFrom(socket.path)).toBe(own)
  await socket.close()
  await expect(textFrom(socket.path)).rejects.toThrow('ENOENT')
})

function textFrom(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(path)
    socket.on('data', (chunk) => (text += chunk))
    socket.on('error', reject)
    socket.on('end', () => resolve(text))
  })
}
