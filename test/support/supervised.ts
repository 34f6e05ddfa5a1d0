import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AuthError } from '../../src/errors.js'
import { findLauncher, processIsolation } from '../../src/host/children/isolation.js'
import type { PlanOf } from '../../src/host/children/life.js'
import type { LogLimits, LogLine } from '../../src/host/children/logs.js'
import { type ChildLimits, type ChildPlan, defaultChildLimits } from '../../src/host/children/plan.js'
import { createSupervisor, type Supervisor, type SupervisorOptions } from '../../src/host/children/supervisor.js'
import { createRandom } from '../../src/lib/random.js'
import { createWorld, sleep, type World } from '../../src/lib/runtime.js'
import { type Answer, ask } from './space-child.js'
import { buildRunner, hashOfRelease, makeRelease, mingo } from './space-release.js'
import { createSpaceStore } from './space-store.js'
import { serveStore } from './store-socket.js'

/** What a space runs at its next start. */
export interface Deployed {
  /** A file of `test/host/bundles`. */
  bundle: string
  release?: number
  env?: Record<string, string>
  limits?: Partial<ChildLimits>
  /** Default: true. */
  hasNetwork?: boolean
}

export interface SupervisedOptions {
  /** Default: the mode `process`. */
  isolate?: SupervisorOptions['isolate']
  world?: Pick<World, 'now' | 'monotonic' | 'timer'>
  logLimits?: LogLimits
}

/** A supervisor with real child processes. */
export interface Supervised {
  supervisor: Supervisor
  runFolder: string
  planOf: PlanOf
  /** By the id of the space. A space that is missing fails with the error that it holds. */
  deployed: Map<string, Deployed | Error>
  crashes: { spaceId: string; lines: readonly LogLine[] }[]
  /** Data sockets that are open. */
  open: Set<string>
  temporaryFolder(spaceId: string): string
  /** Asks the child that takes new requests, and counts the request as the front does. */
  ask(spaceId: string, path: string, body?: object): Promise<Answer>
  /** Asks again while the space is starting, as a client does that reads `Retry-After`. On a busy machine a start takes long. */
  askAgain(spaceId: string, path: string): Promise<Answer>
  /** Text of all lines of the log. */
  log(spaceId: string): string
  close(): Promise<void>
}

/** The files that the supervisors of one test file share: the runner, and the releases that were made so far. */
export interface SupervisedWorkshop {
  open(options?: SupervisedOptions): Promise<Supervised>
  folder: string
  runner: string
  /** The folder of a release. */
  release(bundle: string): Promise<string>
  /** Ends every supervisor that is still open. */
  close(): Promise<void>
}

export async function openSupervisedWorkshop(): Promise<SupervisedWorkshop> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-children-'))
  const runner = await buildRunner(folder)
  const releases = new Map<string, Promise<string>>()
  const opened: Supervised[] = []
  const release = (bundle: string) => {
    const made = releases.get(bundle) ?? makeRelease(folder, bundle)
    releases.set(bundle, made)
    return made
  }
  return {
    folder,
    runner,
    release,
    async open(options = {}) {
      const home = await mkdtemp(join(folder, 'host-'))
      const supervised = await openSupervised({ home, runner, release, ...options })
      opened.push(supervised)
      return supervised
    },
    async close() {
      await Promise.all(opened.map((each) => each.close()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface Site extends SupervisedOptions {
  home: string
  runner: string
  release(bundle: string): Promise<string>
}

const processMode = async () => processIsolation(await findLauncher())

async function openSupervised({
  home,
  runner,
  release,
  isolate = processMode,
  world = createWorld(),
  logLimits,
}: Site): Promise<Supervised> {
  const deployed = new Map<string, Deployed | Error>()
  const crashes: Supervised['crashes'] = []
  const open = new Set<string>()
  const store = createSpaceStore()
  const runFolder = join(home, 'run')
  const temporaryFolder = (spaceId: string) => join(home, spaceId, 'tmp')

  async function planOf(spaceId: string): Promise<ChildPlan> {
    const what = deployed.get(spaceId) ?? new Error(`nothing is deployed in ${spaceId}`)
    if (what instanceof Error) throw what
    const releaseFolder = await release(what.bundle)
    return {
      spaceId,
      name: 'dev',
      release: what.release ?? 1,
      hash: await hashOfRelease(releaseFolder),
      releaseFolder,
      temporaryFolder: temporaryFolder(spaceId),
      env: what.env ?? {},
      hasNetwork: what.hasNetwork ?? true,
      limits: { ...defaultChildLimits, ...what.limits },
      compat: { errors: 'problem', cors: 'own', dotPaths: 'nested' },
      async openData(socketPath, key) {
        const socket = await serveStore(store, socketPath, key)
        open.add(socketPath)
        return {
          async close() {
            open.delete(socketPath)
            await socket.close()
          },
        }
      },
    }
  }

  const supervisor = await createSupervisor({
    planOf,
    onCrashed: (spaceId, lines) => crashes.push({ spaceId, lines }),
    runFolder,
    runner,
    mingo,
    isolate,
    world,
    random: createRandom(),
    ...(logLimits && { logLimits }),
  })

  async function askNow(spaceId: string, path: string, body?: object): Promise<Answer> {
    const child = await supervisor.child(spaceId)
    const end = child.begin()
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return ask(child.socketPath, child.hopKey, path, body ? json : {}).finally(end)
  }

  return {
    supervisor,
    runFolder,
    planOf,
    deployed,
    crashes,
    open,
    temporaryFolder,
    ask: askNow,
    async askAgain(spaceId, path) {
      for (;;) {
        const answer = await askNow(spaceId, path).catch((error: unknown) => {
          if (!(error instanceof AuthError && error.code === 'application_starting')) throw error
          return null
        })
        if (answer !== null) return answer
        await sleep(100)
      }
    },
    log: (spaceId) =>
      supervisor
        .logs(spaceId)
        .last(100_000)
        .map(({ text }) => text)
        .join('\n'),
    close: () => supervisor.close(),
  }
}

/** Whether a process runs. One that has ended and was not yet waited for does not. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return stat !== null && !/\) [ZX] /.test(stat)
}
