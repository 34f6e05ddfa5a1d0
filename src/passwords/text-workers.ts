import { Worker } from 'node:worker_threads'
import { findPackage } from '../lib/optional-package.js'
import type { HashJob, HashResult } from './hash-job.js'
import { idleMilliseconds, reasonOf, WorkerLost } from './hash-workers.js'

/**
 * Threads that hash and need no file: a bundle holds the text of their program. Started when there is work. Idle ones do not
 * keep the process alive.
 */
export class TextWorkers {
  readonly #most: number
  readonly #threads = new Set<Thread>()
  #proven = false
  #closed = false

  constructor(threads: number) {
    this.#most = threads
  }

  /** A job came back at least once: threads can be started here, so a failure is an accident. */
  get proven(): boolean {
    return this.#proven
  }

  /** @throws {WorkerLost} */
  async run(job: HashJob): Promise<HashResult> {
    const { hashWorkerText } = await import('./hash-worker-text.js')
    if (this.#closed) throw new WorkerLost('closed', false)
    const result = await this.#leastBusy(hashWorkerText).run(job)
    this.#proven = true
    return result
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#threads].map((thread) => thread.close()))
  }

  #leastBusy(text: string): Thread {
    const [first] = [...this.#threads].sort((one, other) => one.pending - other.pending)
    if (first && (first.pending === 0 || this.#threads.size >= this.#most)) return first
    const thread = new Thread(text, () => this.#threads.delete(thread))
    this.#threads.add(thread)
    return thread
  }
}

interface Waiting {
  resolve(result: HashResult): void
  reject(lost: WorkerLost): void
}

/** What `hash-thread.js` posts. */
type Message = { ready: true } | { id: number; result: HashResult } | { id: number; fault: string }

class Thread {
  readonly #worker: Worker
  readonly #onEnd: () => void
  /** By the number of the job, oldest first. */
  readonly #waiting = new Map<number, Waiting>()
  #ready = false
  #lastId = 0
  #idle: NodeJS.Timeout | undefined

  /** @throws {WorkerLost} */
  constructor(text: string, onEnd: () => void) {
    this.#onEnd = onEnd
    try {
      const workerData = { argon2File: argon2File() }
      // Flags of the process, such as a loader, are for its files.
      this.#worker = new Worker(text, { eval: true, workerData, execArgv: [], name: 'latchkey hashing' })
    } catch (error) {
      throw new WorkerLost(reasonOf(error), false)
    }
    this.#worker.on('message', (message: Message) => this.#settle(message))
    this.#worker.on('error', (error) => this.#end(reasonOf(error)))
    this.#worker.on('exit', () => this.#end('a worker ended'))
  }

  get pending(): number {
    return this.#waiting.size
  }

  run(job: HashJob): Promise<HashResult> {
    clearTimeout(this.#idle)
    this.#worker.ref()
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ id, job })
    })
  }

  async close(): Promise<void> {
    this.#end('closed')
    await this.#worker.terminate()
  }

  #settle(message: Message): void {
    if ('ready' in message) {
      this.#ready = true
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (this.#waiting.size === 0) this.#rest()
    if ('result' in message) waiting?.resolve(message.result)
    else waiting?.reject(new WorkerLost(message.fault, true))
  }

  #rest(): void {
    this.#worker.unref()
    this.#idle = setTimeout(() => void this.close(), idleMilliseconds).unref()
  }

  #end(reason: string): void {
    this.#onEnd()
    clearTimeout(this.#idle)
    let started = this.#ready
    for (const { reject } of this.#waiting.values()) {
      reject(new WorkerLost(reason, started))
      started = false // it works on the oldest only
    }
    this.#waiting.clear()
  }
}

/** Program text has no folder from which the package could be found. */
function argon2File(): string | null {
  try {
    return findPackage('@node-rs/argon2')
  } catch {
    return null
  }
}
