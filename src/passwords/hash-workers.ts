import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import type { HashJob, HashResult } from './hash-job.js'

type Threads = Piscina<HashJob, HashResult>

/** Long enough to keep threads and their compiled code over a quiet spell, short enough to give the memory back. */
const idleMilliseconds = 30_000

/** A job has lost its thread: none could be started, or it ended in the middle of the job. */
export class WorkerLost extends Error {
  /** The thread had taken up the job. */
  readonly started: boolean

  /** `reason` is an error's code or class: piscina's own messages may quote what was sent. */
  constructor(reason: string, started: boolean) {
    super(reason)
    this.name = 'WorkerLost'
    this.started = started
  }
}

/**
 * Threads that hash, started when there is work. Idle ones do not keep the process alive.
 *
 * Piscina leaves jobs in its queue for ever when a thread fails before it took one (missing file, no memory), so
 * whoever waits here is also told by the pool's events; a pool that failed is thrown away with what stood in its queue.
 */
export class HashWorkers {
  readonly #threads: number
  readonly #file: URL | null
  readonly #waiting = new Set<(lost: WorkerLost) => void>()
  #pool: Threads | null = null
  #proven = false
  #closed = false

  /** Without `file` it is `hash-worker.js` beside this module. */
  constructor(threads: number, file: URL | null) {
    this.#threads = threads
    this.#file = file
  }

  /** A job came back at least once: threads are to be had here, a failure is an accident. */
  get proven(): boolean {
    return this.#proven
  }

  /** @throws {WorkerLost} */
  async run(job: HashJob): Promise<HashResult> {
    const pool = await this.#open()
    const result = await this.#raceAgainstLoss(() => this.#post(pool, job))
    this.#proven = true
    return result
  }

  async close(): Promise<void> {
    this.#closed = true
    const pool = this.#pool
    this.#pool = null
    await pool?.destroy()
  }

  async #open(): Promise<Threads> {
    if (this.#pool) return this.#pool

    try {
      const filename = fileURLToPath(this.#file ?? new URL('./hash-worker.js', import.meta.url))
      // Asked beforehand, because in a bundle piscina might take the application's own worker.js for its own.
      if (!existsSync(filename)) throw new WorkerLost('the worker file is missing', false)

      const { Piscina } = await import('piscina')
      if (this.#closed) throw new WorkerLost('closed', false)

      this.#pool ??= this.#watch(
        new Piscina<HashJob, HashResult>({
          filename,
          name: 'run',
          minThreads: 0,
          maxThreads: this.#threads,
          idleTimeout: idleMilliseconds,
          recordTiming: false,
        }),
      )
      return this.#pool
    } catch (error) {
      throw error instanceof WorkerLost ? error : new WorkerLost(reasonOf(error), false)
    }
  }

  #post(pool: Threads, job: HashJob): Promise<HashResult> {
    try {
      return pool.run(job)
    } catch (error) {
      // No thread could be created. The job stays in that pool's queue and its promise with it, so the pool is only
      // let go: destroying it would be an unhandled rejection.
      if (this.#pool === pool) this.#pool = null
      throw new WorkerLost(reasonOf(error), false)
    }
  }

  async #raceAgainstLoss(post: () => Promise<HashResult>): Promise<HashResult> {
    let rejectWaiting: (lost: WorkerLost) => void = () => {}
    const loss = new Promise<never>((_resolve, reject) => {
      rejectWaiting = reject
    })
    this.#waiting.add(rejectWaiting)
    try {
      return await Promise.race([post(), loss])
    } catch (error) {
      throw error instanceof WorkerLost ? error : new WorkerLost(reasonOf(error), true)
    } finally {
      this.#waiting.delete(rejectWaiting)
    }
  }

  #watch(pool: Threads): Threads {
    pool.on('error', (error) => this.#discard(pool, reasonOf(error)))
    // A thread that ends by itself while it starts makes no error event. Whoever lost a job in its middle asks again
    // within the same turn and so starts another thread; only if nobody did, nothing moves any more.
    pool.on('workerDestroy', () => {
      setImmediate(() => {
        if (pool.threads.length === 0 && this.#waiting.size > 0) this.#discard(pool, 'a worker ended while it started')
      })
    })
    return pool
  }

  #discard(pool: Threads, reason: string): void {
    if (this.#pool !== pool) return

    this.#pool = null
    for (const reject of this.#waiting) reject(new WorkerLost(reason, false))
    void pool.destroy()
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
