import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Seen } from '../../src/host/children/isolation.js'
import { findLauncher, type Isolation, processIsolation } from '../../src/host/children/isolation.js'
import { type ChildLimits, defaultChildLimits } from '../../src/host/children/plan.js'
import { type SandboxGround, sandboxIsolation, systemMounts } from '../../src/host/children/sandbox.js'
import { seccompFilter } from '../../src/host/children/seccomp.js'
import { createSupervisor, type Supervisor } from '../../src/host/children/supervisor.js'
import { createRandom } from '../../src/lib/random.js'
import { createWorld } from '../../src/lib/runtime.js'
import { createSpaceStore } from './space-store.js'
import { serveStore } from './store-socket.js'

/** By absolute paths that an ordinary user may read. */
export interface Site {
  releaseFolder: string
  runner: string
  mingo: string
}

export interface SiteOptions {
  runFolder: string
  isolation: Isolation
  hasNetwork: boolean
  limitsOf?(spaceId: string): Partial<ChildLimits>
}

/** Children that Node starts as any program. */
export function noIsolation(optionsOf: (seen: Seen) => string[]): Isolation {
  const isolation = processIsolation([])
  return {
    ...isolation,
    enclose(reach) {
      const { command, ...rest } = isolation.enclose(reach)
      return { ...rest, command: { ...command, args: [...optionsOf(reach), reach.runner] } }
    },
  }
}

export async function isolationOf(
  mode: 'process' | 'sandbox',
  more: Pick<SandboxGround, 'optionsOf'> = {},
): Promise<Isolation> {
  const launcher = await findLauncher()
  if (mode === 'process') return processIsolation(launcher)
  const filter = seccompFilter(process.arch)
  if (filter === null) throw new Error(`There is no list of system calls for ${process.arch}.`)
  return sandboxIsolation({ bubblewrap: '/usr/bin/bwrap', launcher, filter, system: await systemMounts(), ...more })
}

/** A supervisor all of whose spaces run the same release. */
export function superviseSite(
  { releaseFolder, runner, mingo }: Site,
  { runFolder, isolation, hasNetwork, limitsOf }: SiteOptions,
): Promise<Supervisor> {
  const store = createSpaceStore()
  return createSupervisor({
    planOf: async (spaceId) => ({
      spaceId,
      name: 'dev',
      release: 1,
      hash: createHash('sha256')
        .update(await readFile(join(releaseFolder, 'bundle.mjs')))
        .digest('hex'),
      releaseFolder,
      temporaryFolder: join(runFolder, spaceId),
      env: {},
      hasNetwork,
      limits: { ...defaultChildLimits, ...limitsOf?.(spaceId) },
      compat: { errors: 'problem', cors: 'own', dotPaths: 'nested' },
      openData: (socketPath, key) => serveStore(store, socketPath, key),
    }),
    onCrashed: () => {},
    runFolder,
    runner,
    mingo,
    isolate: async () => isolation,
    world: createWorld(),
    random: createRandom(),
  })
}
