import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Piscina } from 'piscina'
import { parseJsonObject } from '../lib/json-object.js'
import type { HashJob, HashResult } from './hash-job.js'

const require = createRequire(import.meta.url ?? __filename)

type Threads = Piscina<HashJob, HashResult>

/** Long enough to keep threads and their compiled code through a quiet time, short enough to release the memory. */
export const idleMilliseconds = 30_000

/** By `require`, which no bundler follows: piscina needs a file `worker.js` beside it, and a bundle might have another. */
function requirePiscina(): { Piscina: typeof Piscina } {
  return require('piscina')
}

/** A job has lost its thread: no thread could start, or it ended in the middle of the job. */
export class WorkerLost extends Error {
  /** The thread had started the job. */
  readonly started: boolean

  /** `reason` is an error's code or class, because piscina's own messages may quote the job. */
  constructor(reason: string, started: boolean) {
    super(reason)
    this.name = 'WorkerLost'
    this.started = started
  }
}

/**
 * Threads that hash, started when there is work. Idle ones do not keep the process alive.
 *
 * When a thread fails before it takes a job (missing file, no memory), piscina leaves the job in its queue for ever. So the
 * pool's events reject waiting jobs as well, and a failed pool is dropped together with its queue.
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

  /** At least one job has succeeded, so threads work here and a failure is an accident. */
  get proven(): boolean {
    return this.#proven
  }

  /** @throws {WorkerLost} */
  async run(job: HashJob): Promise<HashResult> {
    const pool = this.#open()
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

  #open(): Threads {
    if (this.#closed) throw new WorkerLost('closed', false)
    if (this.#pool) return this.#pool

    try {
      const filename = fileURLToPath(this.#file ?? new URL('./hash-worker.js', import.meta.url))
      // A bundler copies the file under another name, without the files that it imports.
      const isCopy = this.#file === null && !isOfThisPackage(filename)
      // Checked first: piscina would leave the job in its queue.
      if (isCopy || !existsSync(filename)) throw new WorkerLost('the worker file is missing', false)

      const { Piscina } = requirePiscina()
      this.#pool = this.#watch(
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
      // No thread could be created. The job and its promise stay in that pool's queue, so the pool is only dropped:
      // destroying it would cause an unhandled rejection.
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
    // A thread that ends by itself during its start emits no error event. A job that was lost in its middle is retried within
    // the same turn and starts another thread. Without such a retry no thread is left to do the work.
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

/** An error's code or class, because a message may quote the job. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** In `src/passwords`, or in `dist` of a package with our name. */
function isOfThisPackage(file: string): boolean {
  if (/[\\/]src[\\/]passwords[\\/]hash-worker\.js$/.test(file)) return true
  const manifest = join(dirname(file), '..', 'package.json')
  return existsSync(manifest) && parseJsonObject(readFileSync(manifest, 'utf8'))?.name === 'latchkey'
}
