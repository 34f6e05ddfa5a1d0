import { type MessagePort, parentPort } from 'node:worker_threads'
import { yieldToEventLoop } from '../../../lib/runtime.js'
import type { StoreError } from '../../documents/store-error.js'
import type { WireAnswer } from '../../documents/wire.js'
import { mayCommit } from '../calls.js'
import type { NumberedRequest, ThreadReply, ThreadRequest } from '../messages.js'
import { judgeFault, reasonOf, unavailable } from '../messages.js'
import { createOutbox, type Outbox } from '../outbox.js'
import { createOpenSpaces } from './open-spaces.js'

/** Longer texts leave the thread as bytes, which are moved and not copied. */
const longText = 16 * 1024

/** The program of a data thread: SQL of many spaces, one transaction after another. */
function serve(port: MessagePort): void {
  const spaces = createOpenSpaces()
  const outbox = createOutbox<ThreadReply>(
    (replies, transfer) => port.postMessage(replies, transfer),
    ({ id }) => outbox.post({ id, fault: faultOf(unavailable()) }),
  )

  async function reply({ id, request }: NumberedRequest): Promise<void> {
    const answer: ThreadReply = { id }
    const report = (error: unknown) => {
      const reason = reasonOf(error)
      if (reason !== null) answer.reason = reason
    }
    try {
      answer.value = await spaces.run(request, report)
    } catch (error) {
      report(error)
      answer.fault = faultOf(judgeFault(error))
    }
    post(outbox, answer, request.kind)
    // A commit takes its time, and the next one would delay this answer.
    if (mayCommit(request)) outbox.flush()
  }

  port.on('message', async (requests: NumberedRequest[]) => {
    for (const each of requests) {
      const done = reply(each)
      // The answer leaves before the next call runs, unless it takes several rounds of the event loop.
      if (mayCommit(each.request)) await Promise.race([done, yieldToEventLoop()])
    }
  })
}

/** A clone of an error has no code. */
function faultOf({ code, message }: StoreError): ThreadReply['fault'] & {} {
  return { code, message }
}

function post(outbox: Outbox<ThreadReply>, reply: ThreadReply, kind: ThreadRequest['kind']): void {
  const { value } = reply
  if (kind !== 'answer' || !isAnswer(value)) {
    outbox.post(reply)
    return
  }
  const { status, text } = value
  if (text.length <= longText) {
    outbox.post({ ...reply, value: { status, body: text } })
    return
  }
  const body = new TextEncoder().encode(text)
  outbox.post({ ...reply, value: { status, body } }, [body.buffer])
}

function isAnswer(value: unknown): value is WireAnswer {
  return typeof value === 'object' && value !== null && 'status' in value && 'text' in value
}

if (parentPort) serve(parentPort)
