import { type ChildProcess, fork } from 'node:child_process'
import type { World } from '../../lib/runtime.js'
import { readOutcome } from '../documents/remote-ports.js'
import { queryInvalid, StoreError } from '../documents/store-error.js'
import { parseWirePath, readWireAnswer, type WireCall, wireFault } from '../documents/wire.js'
import { isWriting } from '../storage/calls.js'
import { unavailable } from '../storage/messages.js'
import type { SpaceData } from '../storage/space.js'
import { createReadAhead, type RowsHeld } from './read-ahead.js'
import type { FrontMessage, ImportState, Task, TaskEvent, WorkerMessage, WorkerStart } from './tasks.js'

/** A task in its worker, a process of its own. The worker ends with the task, also while events wait for their reader. */
export interface Job {
  /**
   * The next event. The last one is `count` or `imported`.
   *
   * @throws {StoreError} why the task ended early
   */
  next(): Promise<TaskEvent>
  /** How many documents the task has written. */
  written(): number
  /** What reading the upload threw, which ended the import; null: nothing. */
  uploadFault(): unknown
  /** How far an import was when it reported last. */
  progress(): ImportState
  /**
   * Ends the worker, and drops the events that were not read. Resolves when its calls have ended, so nothing is written afterwards.
   */
  stop(): Promise<void>
}

interface JobOptions {
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
  held: RowsHeld
  /** Whether another task waits for the place of this one. */
  isPlaceWanted(): boolean
  /** For the log of the host: why a worker ended early. */
  onFault(reason: string): void
  /** Called once, when the worker and its calls have ended. */
  onEnd(): void
}

export function startJob(options: JobOptions): Job {
  const { mostMs, timer, held, isPlaceWanted } = options
  const tally = createTally()
  let ending: Promise<void> | null = null
  const worker = startProcess(options.program, { receive, ended })
  worker.post({ kind: 'start', start: options.start })
  const events = createReadAhead({ held, timer, isPlaceWanted, ask: () => worker.post({ kind: 'next' }), onSlow: fail })
  const calls = callsOf(options, { worker, tally, fail })
  const upload = readerOf(options.pieces, worker)
  const cancel = mostMs === null ? () => {} : timer(mostMs, () => fail(tookTooLong(options.start.task, mostMs)))

  function fail(error: unknown): void {
    events.end(error)
    void stop()
  }

  function ended(end: WorkerEnd): void {
    if (ending !== null) return
    if (!end.outOfMemory) options.onFault(end.reason)
    fail(endedEarly(options.start.task, end))
  }

  function receive(message: WorkerMessage): void {
    if (message.kind === 'call') calls.run(message)
    else if (message.kind === 'read') void upload.read()
    else if (message.kind === 'fault') fail(new StoreError(message.fault.code, message.fault.message))
    else take(message.event)
  }

  function take(event: TaskEvent): void {
    if (event.kind === 'progress') tally.reported(event.state)
    events.put(event)
    if (event.kind === 'count' || event.kind === 'imported') void stop()
  }

  function stop(): Promise<void> {
    ending ??= end()
    return ending
  }

  async function end(): Promise<void> {
    cancel()
    events.end(unavailable())
    await worker.kill()
    await calls.ended()
    options.onEnd()
  }

  return {
    ...{ next: events.next, written: tally.written, uploadFault: () => upload.fault(), progress: tally.progress },
    stop() {
      events.leave()
      return stop()
    },
  }
}

/** The calls of a worker that are under way. */
function callsOf(
  options: JobOptions,
  { worker, tally, fail }: { worker: WorkerProcess; tally: ReturnType<typeof createTally>; fail(error: unknown): void },
) {
  const underWay = new Set<Promise<void>>()

  async function answer({ id, path, body }: Extract<WorkerMessage, { kind: 'call' }>): Promise<void> {
    const { status, body: answer, call } = await answered(options, path, body)
    if (call !== null && status === 200) tally.called(call, { body, answer })
    worker.post({ kind: 'reply', id, status, body: answer })
  }

  return {
    run(message: Extract<WorkerMessage, { kind: 'call' }>): void {
      const done = answer(message)
        .catch(fail)
        .finally(() => underWay.delete(done))
      underWay.add(done)
    },
    ended: () => Promise.allSettled(underWay),
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

/** A call that has written, and its answer. */
interface Written {
  body: string
  answer: string | Uint8Array
}

/** Counts what a task has written. An import says itself how far it is, except for the calls after its last report. */
function createTally() {
  let state: ImportState = { processed: 0, imported: 0, faults: 0 }
  let changed = 0
  let batches: Written[] = []
  return {
    reported(reported: ImportState): void {
      state = reported
      batches = []
    },
    called({ verb }: WireCall, { body, answer }: Written): void {
      if (verb === 'putMany') batches.push({ body, answer })
      else changed += verb === 'changeMany' ? readOutcome(readWireAnswer({ status: 200, text: answer })).changed : 1
    },
    progress: () => state,
    written: () => state.imported + changed + batches.reduce((sum, each) => sum + rowsPut(each), 0),
  }
}

/**
 * A call of `putMany` sends `[collection, rows, condition]`. Its answer names the documents that existed: with `absent` they were
 * left alone, otherwise replaced.
 */
function rowsPut({ body, answer }: Written): number {
  const [, rows, condition]: unknown[] = JSON.parse(body)
  const existing = readWireAnswer({ status: 200, text: answer })
  if (!Array.isArray(rows) || !Array.isArray(existing)) return 0
  return condition === 'absent' ? rows.length - existing.length : rows.length
}

/**
 * Answers a call of a worker. A query that only reads may not write.
 *
 * @returns also the call, when it has changed something
 */
async function answered({ answers, start }: JobOptions, path: string, body: string) {
  const call = parseWirePath(path)
  const mayWrite = start.task.kind === 'import' ? !start.task.dryrun : start.task.change !== null
  const isChange = call !== null && isWriting(call)
  const isAllowed = call?.port === 'documents' ? mayWrite || !isChange : call?.port === 'indexes' && !isChange
  if (call === null || !isAllowed) {
    const { status, text } = wireFault(unavailable())
    return { status, body: text, call: null }
  }
  return { ...(await answers.answer(call, body)), call: isChange ? call : null }
}

/** Why a task ended that took too long. */
function tookTooLong(task: Task, mostMs: number): StoreError {
  const seconds = `${mostMs / 1_000} s`
  if (isChange(task)) {
    return queryInvalid(
      `The change was stopped after ${seconds}. Change fewer documents at a time, by a narrower filter.`,
    )
  }
  return queryInvalid(
    `The query was stopped after ${seconds}. Filter by an indexed field, set a limit, or use a simpler expression.`,
  )
}

/** Why a task ended whose worker is gone. */
function endedEarly(task: Task, { outOfMemory, error }: WorkerEnd): StoreError {
  if (!outOfMemory) return unavailable(error)
  const needs = `needs more than ${memoryMegabytes} MiB of memory.`
  if (task.kind === 'import')
    return queryInvalid(`A line of the import ${needs} Import it without very large documents.`)
  if (isChange(task)) return queryInvalid(`The change ${needs} Change fewer documents at a time, by a narrower filter.`)
  return queryInvalid(`The query ${needs} Set a limit, or sort and group fewer documents.`)
}

function isChange(task: Task): boolean {
  return task.kind === 'query' && task.change !== null
}

/** The process of a worker. A thread would not do: one that runs out of memory can end the process around it. */
interface WorkerProcess {
  post(message: FrontMessage): void
  /** Resolves when it has ended. */
  kill(): Promise<void>
}

/** How much a worker may use. */
const memoryMegabytes = 256

/** How a worker ended. */
interface WorkerEnd {
  outOfMemory: boolean
  /** Its exit code or signal, or the name of an error. */
  reason: string
  error?: Error
}

/** @param on `ended` is called also after `kill` */
function startProcess(
  program: URL,
  on: { receive(message: WorkerMessage): void; ended(end: WorkerEnd): void },
): WorkerProcess {
  const child = spawn(program)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()))
  child.on('message', on.receive)
  child.once('error', (error) => on.ended({ outOfMemory: false, reason: error.name, error }))
  child.once('exit', (code, signal) => {
    on.ended({ outOfMemory: ranOutOfMemory(code, signal), reason: signal ?? `exit ${code}` })
  })
  return {
    // Without a callback, a process that has just ended would be an error.
    post: (message) => void (child.connected && child.send(message, () => {})),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Node aborts when its heap is full; the kernel kills when the machine is. */
function ranOutOfMemory(code: number | null, signal: NodeJS.Signals | null): boolean {
  return signal === 'SIGABRT' || signal === 'SIGKILL' || signal === 'SIGTRAP' || code === 134
}

function spawn(program: URL): ChildProcess {
  return fork(program, [], {
    execArgv: [`--max-old-space-size=${memoryMegabytes}`],
    // The environment of the host may hold secrets.
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}
