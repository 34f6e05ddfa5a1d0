import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { explain, probe } from '../../../src/host/children/choose-isolation.js'
import { openProcessFacts } from '../../../src/host/children/process-facts.js'
import { openRunFolder } from '../../../src/host/children/run-folder.js'
import { sandboxIsolation, systemMounts } from '../../../src/host/children/sandbox.js'
import { seccompFilter } from '../../../src/host/children/seccomp.js'
import type { Premises } from '../../../src/host/children/start.js'
import { createRandom } from '../../../src/lib/random.js'
import { createWorld } from '../../../src/lib/runtime.js'
import { hasSandbox } from '../../support/sandboxed.js'
import { buildRunner, mingo } from '../../support/space-release.js'

interface Bed {
  premises: Premises
  tried: { data: string; hasNetwork: boolean }
  /** How often bubblewrap was called. */
  calls(): Promise<number>
}

/** @param script of bubblewrap, in the shell, with `$calls`: which call this is */
async function bed(script: string): Promise<Bed> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-probe-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [data, bubblewrap, count] = [join(folder, 'data'), join(folder, 'bwrap'), join(folder, 'calls')]
  await mkdir(data)
  const counted = `echo >> ${count}; calls=$(wc -l < ${count})`
  await writeFile(bubblewrap, `#!/bin/sh\n${counted}\n${script}\n`, { mode: 0o755 })
  const [facts, random] = [await openProcessFacts(), createRandom()]
  const run = await openRunFolder(join(data, 'run'), random, facts)
  const filter = seccompFilter(process.arch) ?? Buffer.alloc(0)
  const isolation = sandboxIsolation({ bubblewrap, launcher: [], filter, system: await systemMounts() })
  const shared = { run, facts, random, world: createWorld(), mingo, lastInherited: 2 }
  return {
    premises: { ...shared, runner: await buildRunner(folder), isolation },
    tried: { data, hasNetwork: false },
    calls: async () => (existsSync(count) ? (await readFile(count, 'utf8')).length : 0),
  }
}

const hangs = 'exec sleep 60'

describe('a first try of the sandbox', () => {
  test('that takes too long is made once more with more time, and then the time is named', async () => {
    const { premises, tried, calls } = await bed(hangs)
    const fault = await probe(premises, tried, [200, 400])
    expect(fault).toEqual({ lines: [], lateMs: 400 })
    expect(await calls()).toBe(2)
    expect(await readdir(join(tried.data, 'run'))).toEqual([])
    expect(await explain({ lines: [], lateMs: 60_000 })).toEqual({
      cause: 'A first try of it was not ready after 60 s.',
      cure: expect.stringContaining('start the host again when it has less'),
    })
  })

  test.skipIf(!hasSandbox)(
    'that is too slow only once lets the host have its sandbox',
    { timeout: 90_000 },
    async () => {
      const { premises, tried, calls } = await bed(`[ $calls = 1 ] && ${hangs}\nexec /usr/bin/bwrap "$@"`)
      expect(await probe(premises, tried, [500, 60_000])).toBeNull()
      expect(await calls()).toBe(2)
    },
  )

  test.skipIf(!hasSandbox)('whose application is not ready in time names the time too', async () => {
    const { premises, tried } = await bed('exec /usr/bin/bwrap "$@"')
    await writeFile(premises.runner, 'setInterval(() => {}, 1_000)')
    expect(await probe(premises, tried, [1_500])).toMatchObject({ lateMs: 1_500 })
  })

  test('that fails otherwise is not repeated', async () => {
    const { premises, tried, calls } = await bed('echo "bwrap: No permissions" >&2; exit 1')
    expect(await probe(premises, tried)).toEqual({ lines: ['bwrap: No permissions'], lateMs: null })
    expect(await calls()).toBe(1)
  })

  test('ATK-278 that the system refuses says nothing about the sandbox, so the host does not start', async () => {
    const { premises, tried } = await bed(hangs)
    await rm(join(tried.data, 'run'), { recursive: true })
    await writeFile(join(tried.data, 'run'), 'no folder')
    const message = expect.stringMatching(/^could not be tried: ENOTDIR/)
    const fault = { name: 'SettingsError', faults: [{ setting: 'isolation', message }] }
    await expect(probe(premises, tried)).rejects.toMatchObject(fault)
  })
})
