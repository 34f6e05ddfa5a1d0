import type { RemoteCall } from '../../documents/remote-ports.js'
import { StoreError } from '../../documents/store-error.js'
import { readWireAnswer, wirePath } from '../../documents/wire.js'
import type { FrontMessage, TaskEvent, WorkerMessage } from '../tasks.js'

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

export function createLink(post: (message: WorkerMessage) => void): Link {
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
