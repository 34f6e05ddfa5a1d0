import type { World } from '../../lib/runtime.js'
import { readOutcome } from '../documents/remote-ports.js'
import { queryInvalid, StoreError } from '../documents/store-error.js'
import { parseWirePath, readWireAnswer, type WireCall, wireFault } from '../documents/wire.js'
import { isWriting } from '../storage/calls.js'
import { unavailable } from '../storage/faults.js'
import type { SpaceData } from '../storage/space.js'
import type { ImportState, TaskEvent, WorkerMessage, WorkerStart } from './tasks.js'
import { startProcess, type WorkerProcess } from './worker-process.js'

/** A task in its worker, a process of its own. */
export interface Job {
  /**
   * The next event. The last one is `count` or `imported`.
   *
   * @throws {StoreError} why the task ended early
   */
  next(): Promise<TaskEvent>
  /** How many documents the calls of a task have written. */
  written(): number
  /** What reading the upload threw, which ended the import; null: nothing. */
  uploadFault(): unknown
  /** How far an import was when it reported last. */
  progress(): ImportState
  /** Ends the worker. Resolves when its calls have ended, so nothing is written afterwards. */
  stop(): Promise<void>
}

export interface JobOptions {
  /** The program of a worker, a file. */
  program: URL
  start: WorkerStart
  /** What the task may call. */
  answers: Pick<SpaceData, 'answer'>
  /** null: the task has none. */
  pieces: AsyncIterable<Uint8Array> | null
  /** null: it may take as long as it takes. */
  mostMs: number | null
  timer: World['timer']
  /** For the log of the host: why a worker ended early. */
  onFault(reason: string): void
  /** Called once, when the worker and its calls have ended. */
  onEnd(): void
}

export function startJob(options: JobOptions): Job {
  const { mostMs, timer } = options
  const calls = new Set<Promise<void>>()
  const events = createEvents()
  let written = 0
  let ending: Promise<void> | null = null
  const worker = startProcess(options.program, { receive, ended })
  const upload = readerOf(options.pieces, worker)
  const cancel = mostMs === null ? () => {} : timer(mostMs, () => fail(tookTooLong(mostMs)))

  function fail(error: unknown): void {
    events.fail(error)
    void stop()
  }

  function ended(fault: StoreError, reason: string): void {
    if (ending !== null) return
    if (fault.code === 'store_unavailable') options.onFault(reason)
    fail(fault)
  }

  async function call({ id, path, body }: Extract<WorkerMessage, { kind: 'call' }>): Promise<void> {
    const { status, body: answer, wrote } = await answered(options, path, body)
    written += wrote
    worker.post({ kind: 'reply', id, status, body: answer })
  }

  function receive(message: WorkerMessage): void {
    if (message.kind === 'call') {
      const done = call(message)
        .catch(fail)
        .finally(() => calls.delete(done))
      calls.add(done)
    } else if (message.kind === 'read') void upload.read()
    else if (message.kind === 'fault') fail(new StoreError(message.fault.code, message.fault.message))
    else events.put(message.event)
  }

  function stop(): Promise<void> {
    ending ??= end()
    return ending
  }

  async function end(): Promise<void> {
    cancel()
    events.fail(unavailable())
    await worker.kill()
    await Promise.allSettled(calls)
    options.onEnd()
  }

  worker.post({ kind: 'start', start: options.start })
  return {
    next() {
      worker.post({ kind: 'next' })
      return events.next()
    },
    ...{ written: () => written, uploadFault: () => upload.fault(), progress: () => events.progress(), stop },
  }
}

/** Events for one reader. After a failure those that are there are still read. */
function createEvents() {
  const waiting: TaskEvent[] = []
  let progress: ImportState = { processed: 0, imported: 0, faults: 0 }
  let failure: { error: unknown } | null = null
  let wake = () => {}
  return {
    progress: () => progress,
    put(event: TaskEvent): void {
      if (event.kind === 'progress') progress = event.state
      waiting.push(event)
      wake()
    },
    fail(error: unknown): void {
      failure ??= { error }
      wake()
    },
    async next(): Promise<TaskEvent> {
      for (;;) {
        const event = waiting.shift()
        if (event) return event
        if (failure) throw failure.error
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

/** Sends the upload piece by piece. */
function readerOf(pieces: JobOptions['pieces'], worker: WorkerProcess) {
  const iterator = pieces?.[Symbol.asyncIterator]()
  let fault: unknown = null
  return {
    fault: () => fault,
    async read(): Promise<void> {
      try {
        const next = await iterator?.next()
        worker.post({ kind: 'piece', bytes: next === undefined || next.done ? null : next.value })
      } catch (error) {
        fault = error
        worker.post({ kind: 'broken' })
      }
    },
  }
}

/** Answers a call of a worker. A query that only reads may not write. */
async function answered({ answers, start }: JobOptions, path: string, body: string) {
  const call = parseWirePath(path)
  const mayWrite = start.task.kind === 'import' ? !start.task.dryrun : start.task.change !== null
  const isChange = call !== null && isWriting(call)
  const isAllowed = call?.port === 'documents' ? mayWrite || !isChange : call?.port === 'indexes' && !isChange
  if (call === null || !isAllowed) {
    const { status, text } = wireFault(unavailable())
    return { status, body: text, wrote: 0 }
  }
  const reply = await answers.answer(call, body)
  return { ...reply, wrote: reply.status === 200 && isChange ? writtenBy(call, reply) : 0 }
}

/** How many documents a call has written. Of `putMany` it says only that it wrote: an import counts rows by its progress events. */
function writtenBy({ verb }: WireCall, { status, body }: Awaited<ReturnType<SpaceData['answer']>>): number {
  return verb === 'changeMany' ? readOutcome(readWireAnswer({ status, text: body })).changed : 1
}

function tookTooLong(mostMs: number): StoreError {
  return queryInvalid(
    `The query was stopped after ${mostMs / 1_000} s. Filter by an indexed field, set a limit, or use a simpler expression.`,
  )
}
