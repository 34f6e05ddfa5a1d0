import { Worker } from 'node:worker_threads'
import { createCollections } from '../../documents/collections.js'
import { loadMingo } from '../../documents/mingo.js'
import { type RemoteCall, remoteDocuments, remoteIndexes } from '../../documents/remote-ports.js'
import { StoreError } from '../../documents/store-error.js'
import { readWireAnswer, wirePath } from '../../documents/wire.js'
import { newId, nowMs, pause } from '../../runner/world.js'
import type { FrontMessage, ImportTask, QueryTask, TaskEvent, TaskFault, WorkerMessage, WorkerStart } from '../tasks.js'
import { importPieces } from './import.js'
import { runQuery } from './query.js'

/**
 * The program of a worker: one task, whose filters may take long and whose lines may be hostile. It is a process, because a thread
 * that runs out of memory can end the process around it.
 */
async function run(link: Link, start: WorkerStart): Promise<void> {
  try {
    if (start.task.kind === 'query') await query(link, start, start.task)
    else await importAll(link, start, start.task)
  } catch (error) {
    send({ kind: 'fault', fault: faultOf(error) })
  }
}

async function query(link: Link, { mingo: file, literalDots }: WorkerStart, task: QueryTask): Promise<void> {
  const mingo = await loadMingo(file, nowMs)
  const documents = remoteDocuments(link.call)
  const collections = createCollections({
    ...{ documents, mingo, literalDots, newId, nowMs, pause },
    indexes: remoteIndexes(link.call),
    // The advice is for the log of an application, which asks again and again.
    report: () => {},
    onFault: () => {},
  })
  const report = (text: string) => link.report({ kind: 'rows', text })
  const count = await runQuery({ collections, documents, mingo, literalDots, report }, task)
  await link.report({ kind: 'count', count })
}

async function importAll(link: Link, { documentBytes }: WorkerStart, task: ImportTask): Promise<void> {
  const { outcome, error } = await importPieces(
    {
      documents: remoteDocuments(link.call),
      newId,
      documentBytes,
      report: (state) => link.report({ kind: 'progress', state }),
    },
    task,
    link.pieces(),
  )
  await link.report({ kind: 'imported', outcome, fault: error === null ? null : faultOf(error) })
}

/** Of other errors the client learns nothing. */
function faultOf(error: unknown): TaskFault {
  if (error instanceof StoreError) return { code: error.code, message: error.message }
  return { code: 'store_unavailable', message: 'The query failed on our side. Try again shortly.' }
}

function send(message: WorkerMessage): void {
  process.send?.(message)
}

/** Also while an expression runs without an end: it notices that the front is gone. */
function endWithFront(): void {
  const watch = `setInterval(() => process.ppid === ${process.ppid} || process.kill(process.pid, 'SIGKILL'), 1000)`
  new Worker(watch, { eval: true }).unref()
}

endWithFront()
process.on('disconnect', () => process.exit(0))
const link = createLink(send)
process.on('message', (message: FrontMessage) => {
  if (message.kind === 'start') void run(link, message.start)
  else link.receive(message)
})

/** The front, as a worker sees it. */
export interface Link {
  call: RemoteCall
  /** The upload, piece by piece. @throws {StoreError} when it breaks off */
  pieces(): AsyncIterable<Uint8Array>
  /** Waits until the front asks for the event. It asks ahead of its client, as far as its memory goes. */
  report(event: TaskEvent): Promise<void>
  /** A message of the front. */
  receive(message: Exclude<FrontMessage, { kind: 'start' }>): void
}

type Reply = Extract<FrontMessage, { kind: 'reply' }>

function createLink(post: (message: WorkerMessage) => void): Link {
  const replies = new Map<number, (reply: Reply) => void>()
  const wanted = createSignal<void>()
  const received = createSignal<Uint8Array | null | 'broken'>()
  let lastId = 0

  return {
    async call(to, verb, ...input) {
      lastId += 1
      const id = lastId
      const reply = await new Promise<Reply>((resolve) => {
        replies.set(id, resolve)
        post({ kind: 'call', id, path: wirePath({ port: to, verb }), body: JSON.stringify(input) })
      })
      return readWireAnswer({ status: reply.status, text: reply.body })
    },
    async *pieces() {
      for (;;) {
        post({ kind: 'read' })
        const bytes = await received.take()
        if (bytes === null) return
        if (bytes === 'broken') throw new StoreError('store_unavailable', 'The upload broke off.')
        yield bytes
      }
    },
    async report(event) {
      await wanted.take()
      post({ kind: 'event', event })
    },
    receive(message) {
      if (message.kind === 'next') wanted.give()
      else if (message.kind === 'piece') received.give(message.bytes)
      else if (message.kind === 'broken') received.give('broken')
      else {
        replies.get(message.id)?.(message)
        replies.delete(message.id)
      }
    },
  }
}

/** Values for one taker, who waits for each. */
function createSignal<T>() {
  const given: { value: T }[] = []
  let wake = () => {}
  return {
    give(value: T) {
      given.push({ value })
      wake()
    },
    async take(): Promise<T> {
      for (;;) {
        const first = given.shift()
        if (first) return first.value
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
