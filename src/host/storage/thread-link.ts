import { Worker } from 'node:worker_threads'
import { StoreError } from '../documents/store-error.js'
import type { NumberedRequest, ThreadReply, ThreadRequest } from './messages.js'
import { reasonOf, unavailable } from './messages.js'
import { createOutbox } from './outbox.js'

/** One data thread. It starts with the first request, and again with the first one after its death. */
export interface ThreadLink {
  /**
   * How often it has started. A thread that started anew knows no space.
   *
   * @throws {StoreError} `store_unavailable` when it cannot start
   */
  ensureStarted(): number
  /** @throws {StoreError} of the thread; `store_unavailable` when the thread dies first */
  post(request: ThreadRequest, transfer?: readonly ArrayBuffer[]): Promise<unknown>
  close(): Promise<void>
}

interface Pending {
  space: number
  resolve(value: unknown): void
  reject(error: StoreError): void
}

/** A thread that needs more dies alone. A request of 16 MiB needs a few times as much while it is read. */
const resourceLimits = { maxOldGenerationSizeMb: 512 }

/** `onFault` learns what failed, as an error's code or class. `space` is null when the thread died. */
export function createThreadLink(program: URL, onFault: (space: number | null, reason: string) => void): ThreadLink {
  const pending = new Map<number, Pending>()
  const outbox = createOutbox<NumberedRequest>(
    (messages, transfer) => worker?.postMessage(messages, transfer),
    ({ id }, error) => settle(pending, { id, fault: unavailable(), reason: reasonOf(error) ?? 'unknown' }, onFault),
  )
  let worker: Worker | null = null
  let [starts, lastId, isClosed] = [0, 0, false]

  function start(): Worker {
    // Flags and environment of the process are not for this thread: the environment may hold secrets.
    const started = new Worker(program, { name: 'latchkey storage', execArgv: [], env: {}, resourceLimits })
    starts += 1
    started.on('message', (replies: ThreadReply[]) => {
      for (const reply of replies) settle(pending, reply, onFault)
    })
    started.on('error', (error) => end(started, reasonOf(error) ?? 'unknown'))
    started.on('exit', () => end(started, 'the thread ended'))
    return started
  }

  function end(ended: Worker, reason: string): void {
    if (worker !== ended) return
    // What was not sent yet belongs to calls that end now.
    outbox.flush()
    worker = null
    if (!isClosed) onFault(null, reason)
    for (const { reject } of pending.values()) reject(unavailable())
    pending.clear()
  }

  return {
    ensureStarted() {
      if (isClosed) throw unavailable()
      try {
        worker ??= start()
      } catch (error) {
        onFault(null, reasonOf(error) ?? 'unknown')
        throw unavailable(error)
      }
      return starts
    },
    post(request, transfer) {
      if (worker === null) return Promise.reject(unavailable())
      lastId += 1
      const id = lastId
      return new Promise((resolve, reject) => {
        pending.set(id, { space: request.space, resolve, reject })
        outbox.post({ id, request }, transfer)
      })
    },
    async close() {
      isClosed = true
      await worker?.terminate()
    },
  }
}

function settle(
  pending: Map<number, Pending>,
  { id, value, fault, reason }: ThreadReply,
  onFault: (space: number | null, reason: string) => void,
): void {
  const asked = pending.get(id)
  pending.delete(id)
  if (reason !== undefined) onFault(asked?.space ?? null, reason)
  if (fault) asked?.reject(new StoreError(fault.code, fault.message))
  else asked?.resolve(value)
}
