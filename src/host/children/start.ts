import { mkdir, rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { RandomSource } from '../../lib/random.js'
import type { World } from '../../lib/runtime.js'
import { releasePaths } from '../../model/release.js'
import type { Child } from '../front/space.js'
import type { StartOptions } from '../runner/start-options.js'
import { type SpawnedChild, spawnChild } from './child-process.js'
import type { ChildSocket } from './child-socket.js'
import type { Enclosed, Isolation, Reach } from './isolation.js'
import type { OpenLog } from './logs.js'
import type { ChildPlan, OpenData } from './plan.js'
import type { ProcessFacts } from './process-facts.js'
import { becomeReady } from './ready.js'
import type { RunFolder } from './run-folder.js'
import type { ChildEnd } from './sandbox.js'
import { startWatchdog, type Watchdog } from './watchdog.js'

/** What all children of a host share. */
export interface Premises {
  run: RunFolder
  facts: ProcessFacts
  random: RandomSource
  world: Pick<World, 'now' | 'monotonic' | 'timer'>
  /** Absolute paths: the program of a child, and mingo's CommonJS build. */
  runner: string
  mingo: string
  isolation: Isolation
  /** The largest descriptor that children would inherit. */
  lastInherited: number
}

interface Start {
  plan: ChildPlan
  log: OpenLog
  premises: Premises
  /** Whether no other child of the space runs, so that its temporary files are those of the dead. */
  isAlone: boolean
  /** Gives the start up. */
  signal: AbortSignal
}

export interface RunningEnd {
  /** null: the sandbox around the process came to an end by itself. */
  end: ChildEnd | null
  /** A request brought the process beyond a bound: of memory, of its heap, or of time. */
  isByRequest: boolean
}

/** A child that serves. */
export interface RunningChild {
  child: Child
  release: number
  /** What the application registers and this host does not run. */
  notRun: readonly string[]
  pid: number
  /** Unix milliseconds. */
  startedAt: number
  requests: RequestCount
  eventStreams: RequestCount
  memoryBytes(): number
  kill(reason: string): void
  terminate(): void
  /** The process is gone. */
  exited: Promise<RunningEnd>
  /** So is all that belonged to it: its data socket, its sockets and its pid file. */
  ended: Promise<void>
}

/**
 * Starts a release and waits until it answers. What a failed start began is gone when this rejects.
 *
 * @throws {ReleaseFault} the release is at fault
 */
export async function startChild(start: Start): Promise<RunningChild> {
  const { plan, premises, signal } = start
  const reach = reachOf(plan, premises)
  const enclosed = premises.isolation.enclose(reach)
  const options = startOptionsOf(plan, enclosed, premises.random)
  if (premises.isolation.mode === 'process') await prepareTemporaryFolder(start)
  const data = await plan.openData(reach.sockets.data, options.keys.data)
  const left: Left = { data, files: Object.values(reach.sockets), sockets: [] }
  try {
    signal.throwIfAborted()
    const requests = countRequests(premises.world.monotonic)
    const process = await launch(start, options, { enclosed, left, requests })
    return runningChild(start, options, { process, requests, cleanUp: () => cleanUp(premises, left) })
  } catch (error) {
    await cleanUp(premises, left)
    throw error
  }
}

/** What the application left there may resist: a path can be longer than the system takes. */
async function prepareTemporaryFolder({ plan, log, isAlone }: Start): Promise<void> {
  const { temporaryFolder } = plan
  if (isAlone) {
    await rm(temporaryFolder, { recursive: true, force: true }).catch(() => {
      log.note('error', 'Latchkey: not all temporary files could be removed.')
    })
  }
  await mkdir(temporaryFolder, { recursive: true, mode: 0o700 })
}

function reachOf({ limits, ...plan }: ChildPlan, { run, runner, mingo }: Premises): Reach {
  const { releaseFolder, temporaryFolder, hasNetwork } = plan
  const { memoryBytes, temporaryBytes } = limits
  const sockets = { requests: run.newSocketPath(), data: run.newSocketPath() }
  return { runner, mingo, releaseFolder, temporaryFolder, hasNetwork, memoryBytes, temporaryBytes, sockets }
}

function startOptionsOf(plan: ChildPlan, { seen }: Enclosed, random: RandomSource): StartOptions {
  const { bodyBytes, requestMs, headerBytes } = plan.limits
  return {
    space: plan.name,
    hash: plan.hash,
    env: plan.env,
    limits: { bodyBytes, requestMs, headerBytes },
    compat: plan.compat,
    keys: { hop: random.token(), data: random.token() },
    sockets: seen.sockets,
    files: { bundle: join(seen.releaseFolder, releasePaths.code), mingo: seen.mingo },
  }
}

/** What a child leaves behind when it has ended. */
interface Left {
  data: OpenData
  files: string[]
  sockets: Promise<ChildSocket | null>[]
}

async function cleanUp({ run }: Premises, { data, files, sockets }: Left): Promise<void> {
  const closed = sockets.map(async (socket) => (await socket)?.close())
  await Promise.allSettled([data.close(), run.remove(files), ...closed])
}

interface Launched extends SpawnedChild {
  socket: ChildSocket
  notRun: readonly string[]
  watchdog: Watchdog
  /** The watchdog ended it while a request was running. */
  isEndedByRequest(): boolean
}

interface Launching {
  enclosed: Enclosed
  left: Left
  requests: RequestCount
}

async function launch(start: Start, options: StartOptions, { enclosed, left, requests }: Launching): Promise<Launched> {
  const { plan, log, premises, signal } = start
  const { world, facts, random, lastInherited } = premises
  const { releaseFolder } = plan
  const { memoryBytes, temporaryBytes, startMs } = plan.limits
  let onHeartbeat = () => {}
  const { command } = enclosed
  const bound = { startMs, signal, onHeartbeat: () => onHeartbeat() }
  const process = await spawnChild({ command, options, log, world, lastInherited, ...bound })
  const { socketPath, areFilesOver } = enclosed.outside(process.pid)
  const bounds = { pid: process.pid, memoryBytes, temporaryBytes, areFilesOver }
  let isEndedByRequest = false
  const onBreach = (reason: string) => {
    isEndedByRequest = requests.running() > 0
    process.kill(reason)
  }
  const watchdog = startWatchdog({ ...bounds, facts, world, onBreach })
  onHeartbeat = watchdog.heartbeat
  void process.exited.then(watchdog.stop)
  const noted = premises.run.note(plan.spaceId, process.ownPid).then(
    (file) => void left.files.push(file),
    // The disk may be full. The child ends with the host without it too.
    () => log.note('error', 'Latchkey: the pid file could not be written.'),
  )
  const onSocket = (socket: Promise<ChildSocket | null>) => void left.sockets.push(socket)
  const ready = becomeReady({
    ...{ process, options, socketPath, onSocket, releaseFolder, startMs, random, signal },
    timer: world.timer,
  })
  const socket = await ready.finally(() => noted)
  watchdog.heartbeat()
  return { ...process, socket, watchdog, notRun: await process.listening, isEndedByRequest: () => isEndedByRequest }
}

function runningChild(
  { plan, premises }: Start,
  { keys }: StartOptions,
  { process, requests, cleanUp }: Pick<RunningChild, 'requests'> & { process: Launched; cleanUp(): Promise<void> },
): RunningChild {
  const eventStreams = countRequests(premises.world.monotonic)
  const begin: Child['begin'] = (kind) => (kind === 'eventStream' ? eventStreams : requests).begin()
  return {
    child: {
      get socketPath() {
        return process.socket.path
      },
      hopKey: keys.hop,
      begin,
    },
    release: plan.release,
    notRun: process.notRun,
    pid: process.pid,
    startedAt: premises.world.now(),
    requests,
    eventStreams,
    memoryBytes: process.watchdog.memoryBytes,
    kill: process.kill,
    terminate: process.terminate,
    exited: process.exited.then((end) => {
      const isByRequest =
        process.isEndedByRequest() || (end !== null && isHeapDeath(end) && requests.ranWithin(blameMs))
      return { end, isByRequest }
    }),
    ended: process.closed.then(cleanUp),
  }
}

/** A request whose connection broke with the process has ended just before the process is known to be gone. */
const blameMs = 5_000

/** Node ends by one of these signals when the heap is full; `sh` and a sandbox answer 128 and the signal's number. */
function isHeapDeath({ code, signal }: ChildEnd): boolean {
  const signals: readonly NodeJS.Signals[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV']
  return signals.some((each) => signal === each || code === 128 + constants.signals[each])
}

/** The running requests of one child. */
interface RequestCount {
  /** Counts one; the result ends it, once. */
  begin(): () => void
  running(): number
  /** Whether one runs, or ended at most so many milliseconds ago. */
  ranWithin(milliseconds: number): boolean
  /** Resolves as soon as none runs. */
  whenNone(): Promise<void>
}

/** @param nowMs milliseconds of a clock that is never set back */
export function countRequests(nowMs: () => number): RequestCount {
  let count = 0
  let lastEndMs: number | null = null
  let waiting: (() => void)[] = []

  function end(): void {
    count -= 1
    lastEndMs = nowMs()
    if (count > 0) return
    const resolved = waiting
    waiting = []
    for (const resolve of resolved) resolve()
  }

  return {
    begin() {
      count += 1
      let isRunning = true
      return () => {
        if (isRunning) end()
        isRunning = false
      }
    },
    running: () => count,
    ranWithin: (milliseconds) => count > 0 || (lastEndMs !== null && nowMs() - lastEndMs <= milliseconds),
    whenNone: () =>
      new Promise((resolve) => {
        if (count === 0) resolve()
        else waiting.push(resolve)
      }),
  }
}
