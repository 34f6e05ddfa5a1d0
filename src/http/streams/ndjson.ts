import { realTimer } from '../../lib/runtime.js'
import { toAuthError } from '../faults.js'
import type { HttpResponse } from '../message.js'
import { problemBody } from '../problem.js'
import type { RouteContext } from '../route.js'
import { createTaking } from './while-allowed.js'

/** `X-Accel-Buffering`: nginx passes on each line at once. */
const headers = {
  'content-type': 'application/jsonl',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-accel-buffering': 'no',
}

/** Proxies cut an answer of which nothing comes for a while: nginx after 60 s. */
const quietMs = 15_000
const emptyLine = Buffer.from('\n')

/**
 * Answers with one JSON object a line, each sent as soon as it is there; a text is sent as it is and holds whole lines. An error of
 * `lines` becomes the last line, `{ error: <problem> }`, because the status has been sent by then. When the client leaves, `return`
 * of the iterator is called. When nothing comes for 15 s, an empty line is sent, so that proxies keep the connection.
 */
export function ndjson(
  { requestId, report }: Pick<RouteContext, 'requestId' | 'report'>,
  lines: AsyncIterable<object | string>,
): HttpResponse {
  const last = (error: unknown): object => {
    const fault = toAuthError(error)
    report(fault)
    return { error: problemBody(fault, requestId) }
  }
  return { status: 200, headers, body: { [Symbol.asyncIterator]: () => written(lines[Symbol.asyncIterator](), last) } }
}

function written(lines: AsyncIterator<object | string>, last: (error: unknown) => object): AsyncIterator<Uint8Array> {
  const end = { done: true, value: undefined } as const
  const take = createTaking(lines, (wake) => realTimer(quietMs, wake))
  let ended = false
  return {
    async next() {
      if (ended) return end
      try {
        const took = await take()
        if (took === null) return { done: false, value: emptyLine }
        if ('error' in took) throw took.error
        const { done, value } = took.result
        return done === true ? end : { done: false, value: lineOf(value) }
      } catch (error) {
        // The reader has left and its source was closed, so this error is expected.
        if (ended) return end
        ended = true
        return { done: false, value: lineOf(last(error)) }
      }
    },
    async return() {
      ended = true
      await lines.return?.()
      return end
    },
  }
}

function lineOf(value: object | string): Uint8Array {
  if (typeof value === 'string') return Buffer.from(value)
  return Buffer.from(`${JSON.stringify(value)}\n`)
}
