import { AuthError } from '../../errors.js'
import { late, within } from '../../lib/runtime.js'
import type { Child } from '../front/space.js'
import type { OpenLog } from './logs.js'
import type { ChildPlan } from './plan.js'
import { ReleaseFault } from './release-fault.js'
import { createRestarts, type Restarts } from './restarts.js'
import { type Premises, type RunningChild, type RunningEnd, startChild } from './start.js'
import { retire } from './switch.js'

/** How a space stands. */
export interface SpaceStatus {
  /** `crashed`: down, and after many crashes it is started again at long intervals only. */
  state: 'stopped' | 'starting' | 'ready' | 'crashed'
  /** `pid`, `release` and `startedAt` describe the child that takes new requests. All three are null while no child does. */
  pid: number | null
  release: number | null
  /** Unix milliseconds. */
  startedAt: number | null
  /** As it was a second ago. */
  memoryBytes: number
  /** How often it was started without being asked to, since the start of the host. */
  restarts: number
  /** That its child answers now, event streams included. */
  requests: number
  /** Releases that still answer requests from before the last switch. */
  draining: readonly number[]
}

export interface StartReport {
  release: number
  pid: number
  /** What the application registers and this host does not run. */
  notRun: readonly string[]
  /** From the call on, in milliseconds. */
  milliseconds: number
}

export type PlanOf = (spaceId: string) => Promise<ChildPlan>

interface LifeOptions {
  spaceId: string
  premises: Premises
  log: OpenLog
  planOf: PlanOf
  /** The application has crashed too often. Called once, until a deploy or a life of a minute. */
  onCrashed(): void
}

const requestWaitMs = 2_000
/** How long a restart waits for what belonged to the process before. */
const cleanUpMs = 2_000

interface Waiting {
  resolve(child: Child): void
  reject(error: unknown): void
}

/** The processes of one space: one that takes new requests, and those that are on their way up or down. */
export class SpaceLife {
  private readonly options: LifeOptions
  private readonly restarts: Restarts
  private readonly waiting = new Set<Waiting>()
  private readonly draining = new Set<RunningChild>()
  /** Each ends with a process that was started, and with all that belonged to it. */
  private readonly processes = new Set<Promise<void>>()
  private current: RunningChild | null = null
  private readyAt = 0
  /** Of `monotonic`. */
  private nextStartAt = 0
  /** What is so while there is no current child. */
  private absence: 'stopped' | 'starting' | 'crashed' = 'stopped'
  private starts = 0
  private restarted = 0
  private isRestarting = false
  private lastStart: Promise<unknown> = Promise.resolve()
  private attempt: Promise<void> = Promise.resolve()
  /** Ends every start, with `stop`. */
  private lifetime = new AbortController()
  /** Ends a restart, with the next switch. */
  private restarting = new AbortController()
  private cancelRestart = () => {}

  constructor(options: LifeOptions) {
    this.options = options
    this.restarts = createRestarts(options.premises.world)
  }

  /** A start follows by `restart`, and requests wait for it from now on. */
  announce(): void {
    if (this.absence === 'stopped') this.absence = 'starting'
  }

  /** One start that no caller waits for. Resolves when it is over, and tries again later when it failed. */
  restart(): Promise<void> {
    this.attempt = this.tryRestart()
    return this.attempt
  }

  /** Starts a release and switches to it. @throws {ReleaseFault} */
  start(planOf: PlanOf): Promise<StartReport> {
    const { signal } = this.lifetime
    this.starts += 1
    const started = this.lastStart
      .then(() => this.startNow(planOf, signal))
      .finally(() => {
        this.starts -= 1
      })
    this.lastStart = started.catch(() => {})
    return started
  }

  /** @throws {AuthError} `application_starting` */
  async child(): Promise<Child> {
    if (this.current !== null) return this.current.child
    if (this.starts === 0 && this.absence !== 'starting') {
      throw starting(this.absence === 'crashed' ? this.retrySeconds() : 1)
    }
    let remove = () => {}
    const next = new Promise<Child>((resolve, reject) => {
      const waiter = { resolve, reject }
      this.waiting.add(waiter)
      remove = () => this.waiting.delete(waiter)
    })
    const found = await within(this.options.premises.world.timer, requestWaitMs, next).finally(() => remove())
    if (found === late) throw starting(1)
    return found
  }

  /** Lets running requests end, then all processes. */
  async stop(): Promise<void> {
    this.giveUpRestart()
    this.lifetime.abort(stopped())
    this.lifetime = new AbortController()
    this.absence = 'stopped'
    this.refuseWaiting(stopped())
    await Promise.all([this.lastStart, this.attempt])
    const last = this.current
    this.current = null
    if (last !== null) void this.drain(last)
    await Promise.all(this.processes)
  }

  status(): SpaceStatus {
    const { current } = this
    return {
      state: current !== null ? 'ready' : this.starts > 0 ? 'starting' : this.absence,
      pid: current?.pid ?? null,
      release: current?.release ?? null,
      startedAt: current?.startedAt ?? null,
      memoryBytes: current?.memoryBytes() ?? 0,
      restarts: this.restarted,
      requests: current === null ? 0 : current.requests.running() + current.eventStreams.running(),
      draining: [...this.draining].map(({ release }) => release),
    }
  }

  private async startNow(planOf: PlanOf, signal: AbortSignal): Promise<StartReport> {
    const { monotonic } = this.options.premises.world
    const began = monotonic()
    const { release, pid, notRun } = await this.launch(planOf, signal)
    this.restarts.reset()
    return { release, pid, notRun, milliseconds: Math.round(monotonic() - began) }
  }

  private async tryRestart(): Promise<void> {
    const { signal } = this.restarting
    if (this.current !== null || this.absence === 'stopped' || this.isRestarting) return
    this.cancelRestart()
    this.isRestarting = true
    const error = await this.launch(this.options.planOf, signal).then(() => null, toError)
    this.isRestarting = false
    if (error !== null && !signal.aborted) this.onFailedRestart(error)
  }

  private async launch(planOf: PlanOf, signal: AbortSignal): Promise<RunningChild> {
    const { spaceId, log, premises } = this.options
    const plan = await planOf(spaceId)
    signal.throwIfAborted()
    const isAlone = this.processes.size === 0
    const begun = startChild({ plan, log, premises, isAlone, signal })
    const over = begun.then(({ ended }) => ended).catch(() => {})
    this.processes.add(over)
    void over.then(() => this.processes.delete(over))
    const running = await begun
    if (signal.aborted) running.kill('Its start was given up.')
    signal.throwIfAborted()
    this.adopt(running)
    return running
  }

  /** From here on new requests go to this child. */
  private adopt(running: RunningChild): void {
    this.giveUpRestart()
    const former = this.current
    this.current = running
    this.absence = 'starting'
    this.readyAt = this.options.premises.world.monotonic()
    for (const { resolve } of this.waiting) resolve(running.child)
    this.waiting.clear()
    void running.exited.then((end) => this.onExit(running, end))
    if (former !== null) void this.drain(former)
  }

  private async drain(former: RunningChild): Promise<void> {
    this.draining.add(former)
    await retire(former, this.options.premises.world.timer)
    this.draining.delete(former)
  }

  private giveUpRestart(): void {
    this.cancelRestart()
    this.restarting.abort(stopped())
    this.restarting = new AbortController()
  }

  private onExit(running: RunningChild, { end, isByRequest }: RunningEnd): void {
    if (this.current !== running) return
    const { log, premises } = this.options
    this.current = null
    const how = end === null ? 'with its sandbox' : `with ${end.signal ?? `code ${end.code}`}`
    log.note(
      'error',
      `Latchkey: the process of release ${running.release} has ended, ${how}.${isByRequest ? ' A request took it down, so it counts as no crash.' : ''}`,
    )
    const livedMs = premises.world.monotonic() - this.readyAt
    // What it printed last is still to be read.
    void within(premises.world.timer, cleanUpMs, running.ended).then(() => {
      if (this.current !== null || this.absence === 'stopped') return
      if (isByRequest) this.restartIn(this.restarts.afterRequest(livedMs))
      else this.onCrash(livedMs)
    })
  }

  private onFailedRestart(error: Error): void {
    const { log } = this.options
    if (error instanceof AuthError && error.code === 'space_not_found') {
      this.absence = 'stopped'
      this.refuseWaiting(error)
    } else if (error instanceof ReleaseFault) {
      log.note('error', `Latchkey: the application did not start. ${error.message}`)
      this.onCrash(0)
    } else {
      log.note('error', 'Latchkey: the host could not start the application. It tries again.')
      this.restartIn(this.restarts.afterFault())
    }
  }

  private onCrash(livedMs: number): void {
    if (this.current !== null || this.absence === 'stopped') return
    const { waitMs, isCrashed, isFirst } = this.restarts.afterCrash(livedMs)
    this.restartIn(waitMs)
    if (!isCrashed) return
    this.absence = 'crashed'
    if (this.starts === 0) this.refuseWaiting(starting(this.retrySeconds()))
    if (isFirst) this.options.onCrashed()
  }

  private restartIn(milliseconds: number): void {
    const { monotonic, timer } = this.options.premises.world
    this.cancelRestart()
    this.nextStartAt = monotonic() + milliseconds
    this.cancelRestart = timer(milliseconds, () => {
      this.restarted += 1
      void this.restart()
    })
  }

  private retrySeconds(): number {
    return Math.max(1, Math.ceil((this.nextStartAt - this.options.premises.world.monotonic()) / 1_000))
  }

  private refuseWaiting(error: unknown): void {
    for (const { reject } of this.waiting) reject(error)
    this.waiting.clear()
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function starting(retryAfterSeconds: number): AuthError {
  return new AuthError('application_starting', { retryAfterSeconds })
}

function stopped(): AuthError {
  return new AuthError('application_starting', { detail: 'The application was stopped.', retryAfterSeconds: 1 })
}
