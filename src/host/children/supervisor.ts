import { readdir, readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { AuthError } from '../../errors.js'
import type { RandomSource } from '../../lib/random.js'
import type { World } from '../../lib/runtime.js'
import type { Child } from '../front/space.js'
import type { Isolation } from './isolation.js'
import { type PlanOf, SpaceLife, type SpaceStatus, type StartReport } from './life.js'
import { createLog, defaultLogLimits, type LogLimits, type LogLine, type OpenLog, type SpaceLog } from './logs.js'
import { openProcessFacts } from './process-facts.js'
import { openRunFolder } from './run-folder.js'
import type { Premises } from './start.js'

/** What the supervisor takes from the host. */
export interface SupervisorOptions {
  /** Asked at each start. A rejection with `space_not_found` means that nothing is deployed; any other one is tried again. */
  planOf: PlanOf
  /** A space has come into the state `crashed`; the last lines of its log. */
  onCrashed(spaceId: string, lastLines: readonly LogLine[]): void
  /** Absolute path of the folder for sockets and pid files. Made when it is missing. */
  runFolder: string
  /** Absolute path of the child's program: `runner.mjs`. */
  runner: string
  /** Absolute path of mingo's CommonJS build. */
  mingo: string
  /** How children are kept apart, once it is known what they share. */
  isolate(premises: Omit<Premises, 'isolation'>): Promise<Isolation>
  world: Pick<World, 'now' | 'monotonic' | 'timer'>
  random: RandomSource
  logLimits?: LogLimits
}

/** The child processes of all spaces. */
export interface Supervisor {
  /** How the processes are kept apart. */
  isolation: Isolation
  /**
   * Starts what is deployed in these spaces, as many at once as there are cores. A space that a request asks for goes first.
   * Returns at once.
   */
  startAll(spaceIds: readonly string[]): void
  /**
   * Starts a release beside the running child and switches to it when it is healthy. When it is not, the former child goes on.
   *
   * @param planOf the plan of this one start: a release that is not in force yet. Default: that of the supervisor
   * @throws {ReleaseFault} `bundle_invalid`, `application_timeout`
   */
  start(spaceId: string, planOf?: PlanOf): Promise<StartReport>
  /**
   * The child that takes new requests. Waits at most 2 s for one.
   *
   * @throws {AuthError} `application_starting`
   */
  child(spaceId: string): Promise<Child>
  /** Running requests get 30 s, then the processes of the space end. Requests are refused until the next start. */
  stop(spaceId: string): Promise<void>
  /** As `stop`, and the log is forgotten: for a space that is removed. */
  remove(spaceId: string): Promise<void>
  status(spaceId: string): SpaceStatus
  logs(spaceId: string): SpaceLog
  /** Stops all spaces. Nothing starts any more. */
  close(): Promise<void>
}

interface KnownSpace {
  life: SpaceLife
  log: OpenLog
}

const crashLines = 50

/**
 * Ends the children that an earlier host left in the folder, then waits for starts.
 *
 * @throws {SettingsError} `data`: the path of the folder is too long for sockets
 */
export async function createSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { world, random, runner, mingo } = options
  const facts = await openProcessFacts()
  const run = await openRunFolder(options.runFolder, random, facts)
  const premises = { run, facts, random, world, runner, mingo, lastInherited: await lastInherited() }
  return supervise(options, { ...premises, isolation: await options.isolate(premises) })
}

function supervise(options: SupervisorOptions, premises: Premises): Supervisor {
  const spaces = knownSpaces(options, premises)
  const queue = createStartQueue(availableParallelism())
  /** Those that were decided to start or to stop. A request to any other space starts it. */
  const decided = new Set<string>()
  let isClosed = false

  function begin(spaceId: string): void {
    const { life } = spaces.get(spaceId)
    decided.add(spaceId)
    life.announce()
    queue.add(spaceId, () => life.restart())
  }

  return {
    isolation: premises.isolation,
    startAll: (spaceIds) => {
      for (const spaceId of isClosed ? [] : spaceIds) begin(spaceId)
    },
    async start(spaceId, planOf = options.planOf) {
      requireOpen(isClosed)
      decided.add(spaceId)
      return spaces.get(spaceId).life.start(planOf)
    },
    async child(spaceId) {
      requireOpen(isClosed)
      if (!decided.has(spaceId)) begin(spaceId)
      queue.prefer(spaceId)
      return spaces.get(spaceId).life.child()
    },
    async stop(spaceId) {
      decided.add(spaceId)
      await spaces.get(spaceId).life.stop()
    },
    async remove(spaceId) {
      decided.add(spaceId)
      await spaces.get(spaceId).life.stop()
      spaces.forget(spaceId)
    },
    status: (spaceId) => spaces.get(spaceId).life.status(),
    logs: (spaceId) => spaces.get(spaceId).log,
    async close() {
      isClosed = true
      queue.clear()
      await Promise.all(spaces.all().map(({ life }) => life.stop()))
    },
  }
}

interface KnownSpaces {
  /** Made at the first call. */
  get(spaceId: string): KnownSpace
  forget(spaceId: string): void
  all(): KnownSpace[]
}

function knownSpaces({ world, planOf, onCrashed, logLimits }: SupervisorOptions, premises: Premises): KnownSpaces {
  const spaces = new Map<string, KnownSpace>()

  function open(spaceId: string): KnownSpace {
    const log = createLog(world, logLimits ?? defaultLogLimits)
    const crashed = () => {
      try {
        onCrashed(spaceId, log.last(crashLines))
      } catch {
        log.note('error', 'Latchkey: the host could not report that the application crashes too often.')
      }
    }
    const known = { log, life: new SpaceLife({ spaceId, premises, log, planOf, onCrashed: crashed }) }
    spaces.set(spaceId, known)
    return known
  }

  return {
    get: (spaceId) => spaces.get(spaceId) ?? open(spaceId),
    forget: (spaceId) => spaces.delete(spaceId),
    all: () => [...spaces.values()],
  }
}

function requireOpen(isClosed: boolean): void {
  if (isClosed) throw new AuthError('application_starting', { retryAfterSeconds: 1 })
}

/** O_CLOEXEC, in the octal digits of `/proc`. */
const closesOnExec = 0o2000000
/** The largest descriptor of standard input, output and error. */
const standardError = 2
/** Beyond this a host is started by a program that leaks, and all numbers below would be opened for each child. */
const mostNumbers = 1_024

/**
 * The largest descriptor that this process would hand on to every process that it starts: what the program that started the host
 * left open. Without such a descriptor this is 2, that of standard error.
 */
async function lastInherited(): Promise<number> {
  // Elsewhere than on Linux there is no such folder.
  const names = await readdir('/proc/self/fd').catch(() => [])
  const inherited = await Promise.all(names.map(async (name) => ((await isHandedOn(name)) ? Number(name) : 0)))
  return Math.min(mostNumbers, Math.max(standardError, ...inherited))
}

async function isHandedOn(descriptor: string): Promise<boolean> {
  const facts = await readFile(`/proc/self/fdinfo/${descriptor}`, 'utf8').catch(() => '')
  const [, flags] = /^flags:\s+([0-7]+)$/m.exec(facts) ?? []
  return flags !== undefined && (Number.parseInt(flags, 8) & closesOnExec) === 0
}

/** Bounds how many spaces start at once after a start of the host. */
interface StartQueue {
  /** Runs the start as soon as there is room. Starts of one key run once at a time. */
  add(key: string, start: () => Promise<void>): void
  /** The next start is that of this key, if it waits. */
  prefer(key: string): void
  /** Starts that wait are forgotten. */
  clear(): void
}

export function createStartQueue(atOnce: number): StartQueue {
  const waiting = new Map<string, () => Promise<void>>()
  let preferred: string[] = []
  let running = 0

  function next(): void {
    while (running < atOnce) {
      const key = preferred.shift() ?? waiting.keys().next().value
      if (key === undefined) return
      const start = waiting.get(key)
      waiting.delete(key)
      if (start === undefined) continue
      running += 1
      void start().finally(() => {
        running -= 1
        next()
      })
    }
  }

  return {
    add(key, start) {
      waiting.set(key, start)
      next()
    },
    prefer(key) {
      if (waiting.has(key) && !preferred.includes(key)) preferred.push(key)
    },
    clear() {
      waiting.clear()
      preferred = []
    },
  }
}
