import { AuthError } from '../errors.js'
import type { HashSource } from '../model/imported-account.js'
import { hashHere } from './hash-here.js'
import type { HashJob, HashResult } from './hash-job.js'
import { HashWorkers, WorkerLost } from './hash-workers.js'
import { TextWorkers } from './text-workers.js'

/** Hashes away from the event loop, so many at a time, with a bounded queue. */
export interface HashPool {
  /** @throws {AuthError} `busy` when the queue is full, the pool is closed, or two threads died over the job */
  run(job: HashJob, source?: HashSource): Promise<HashResult>
  /** @throws {AuthError} `busy` when `run` would not take a job now */
  requireRoom(source?: HashSource): void
  /** How many jobs wait for their turn. */
  queued(): number
  /** Lets what was accepted finish, then ends the threads. */
  close(): Promise<void>
}

export interface HashPoolOptions {
  /** Default 2. 0: one job at a time on the event loop, for tests and for a program that serves no requests and ends soon. */
  threads?: number
  /** Jobs that may wait for their turn. Default 64. */
  maxQueue?: number
  /** The worker file, if not the one of this package. Then threads run nothing else. */
  workerFile?: URL
  /** Called once if there are no worker threads here, with the reason: an error's code or class. */
  onFallback?: (reason: string) => void
}

/** @example const pool = createHashPool({ maxQueue: 16, onFallback: (reason) => logger.warn({ reason }, 'no workers') }) */
export function createHashPool(options: HashPoolOptions = {}): HashPool {
  return new BoundedHashPool(options)
}

/** `createHashPool` makes it. Tests watch its `run`. */
export class BoundedHashPool implements HashPool {
  readonly #queue: FairQueue
  readonly #onFallback: (reason: string) => void
  /** Jobs computed at a time. */
  #threads: number
  /** null: hashing runs on the event loop, because no thread can be started or none was asked for. */
  #workers: HashWorkers | TextWorkers | null
  /** What comes after `#workers`, where the files of the package are not to be found. */
  #next: TextWorkers | null
  #accepted = 0
  #running = 0
  #closed = false
  #whenIdle: (() => void)[] = []
  #previous: Promise<unknown> = Promise.resolve()

  constructor(options: HashPoolOptions) {
    const threads = options.threads ?? 2
    this.#threads = Math.max(1, threads)
    this.#queue = new FairQueue(options.maxQueue ?? 64)
    this.#onFallback = options.onFallback ?? (() => {})
    this.#workers = threads === 0 ? null : new HashWorkers(threads, options.workerFile ?? null)
    this.#next = threads === 0 || options.workerFile ? null : new TextWorkers(threads)
  }

  requireRoom(source?: HashSource): void {
    if (this.#closed || (this.#running >= this.#threads && !this.#queue.hasRoom(source))) throw busy()
  }

  async run(job: HashJob, source?: HashSource): Promise<HashResult> {
    this.requireRoom(source)
    this.#accepted += 1
    // A job that ends passes its place on, so a job that comes meanwhile does not overtake the queue.
    if (this.#running >= this.#threads) await this.#queue.wait(source)
    else this.#running += 1
    try {
      return await this.#compute(job)
    } finally {
      this.#accepted -= 1
      if (this.#running > this.#threads || !this.#queue.startNext()) this.#running -= 1
      if (this.#accepted === 0) for (const resume of this.#whenIdle.splice(0)) resume()
    }
  }

  queued(): number {
    return this.#queue.size()
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#accepted > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
    await this.#workers?.close()
  }

  async #compute(job: HashJob): Promise<HashResult> {
    const workers = this.#workers
    if (!workers) return this.#computeHere(job)

    for (const last of [false, true]) {
      try {
        return await workers.run(job)
      } catch (error) {
        if (!(error instanceof WorkerLost)) throw error
        const diedInThisJob = error.started && last
        if (!workers.proven && (diedInThisJob || !error.started)) this.#replace(workers, error.message)
        if (this.#workers !== workers && !diedInThisJob) return this.#compute(job)
      }
    }
    throw busy()
  }

  /** Goes on to the next kind of threads, and from the last kind to the event loop. */
  #replace(workers: HashWorkers | TextWorkers, reason: string): void {
    if (this.#workers !== workers) return

    this.#workers = this.#next
    this.#next = null
    void workers.close()
    if (this.#workers) return
    this.#threads = 1
    this.#onFallback(reason)
  }

  /** One at a time. */
  #computeHere(job: HashJob): Promise<HashResult> {
    const result = this.#previous.then(() => hashHere(job))
    this.#previous = result.catch(() => {})
    return result
  }
}

function busy(): AuthError {
  return new AuthError('busy', { retryAfterSeconds: 1 })
}

const ownSource: HashSource = { key: null, known: false }

/** The part of the waiting places that known devices share in addition. */
const knownShare = 4
/** How many times the waiting places all computations together may take, however many known devices come. */
const hardCap = 4

type Waiting = Map<string | null, (() => void)[]>

/**
 * A bounded queue that one network cannot fill. A source may take as many places as are still free: one network gets half of
 * them, and a newcomer finds one beside several of them. A known device of which nothing waits always finds one, because those of
 * other accounts may be a stranger's (ATK-296).
 */
export class FairQueue {
  readonly #places: number
  readonly #known: Waiting = new Map()
  readonly #others: Waiting = new Map()
  #lastWasKnown = false

  constructor(places: number) {
    this.#places = places
  }

  /** Whether a computation may wait. */
  hasRoom({ key, known }: HashSource = ownSource): boolean {
    const waiting = known ? this.#known : this.#others
    const own = key === null ? null : (waiting.get(key)?.length ?? 0)
    if (known && own === 0) return count(waiting) < (hardCap - 1) * this.#places
    const free = (known ? Math.ceil(this.#places / knownShare) : this.#places) - count(waiting)
    return free > 0 && (own === null || own < free)
  }

  /** Waits until it is started. The caller has asked whether there is room. */
  wait({ key, known }: HashSource = ownSource): Promise<void> {
    const waiting = known ? this.#known : this.#others
    return new Promise((resolve) => waiting.set(key, [...(waiting.get(key) ?? []), resolve]))
  }

  /** How many wait. */
  size(): number {
    return count(this.#known) + count(this.#others)
  }

  /** Starts the next one: known devices and all others alternate, and so do the sources of each. False when none waits. */
  startNext(): boolean {
    const [first, second] = this.#lastWasKnown ? [this.#others, this.#known] : [this.#known, this.#others]
    const waiting = first.size > 0 ? first : second
    const [next] = waiting
    if (!next) return false
    const [key, [start, ...rest]] = next
    waiting.delete(key)
    if (rest.length > 0) waiting.set(key, rest)
    this.#lastWasKnown = waiting === this.#known
    start?.()
    return true
  }
}

function count(waiting: Waiting): number {
  return [...waiting.values()].reduce((sum, { length }) => sum + length, 0)
}
