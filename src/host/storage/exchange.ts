import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StoreError } from '../documents/store-error.js'
import { wireFault } from '../documents/wire.js'
import type { WireReply } from './messages.js'

/** How long a client may take to read an answer. */
const answerMs = 30_000

/** null when the client left before the end. */
export function readBody(request: IncomingMessage, length: number): Promise<Buffer<ArrayBuffer> | null> {
  // Of its own, not of Node's pool: it moves to the thread. Pages that the client never fills cost no memory.
  const bytes = Buffer.from(new ArrayBuffer(length))
  let at = 0
  return new Promise((resolve) => {
    // It left while it waited for admission.
    if (request.destroyed) return resolve(null)
    request.on('data', (chunk: Buffer) => {
      at += chunk.copy(bytes, at)
    })
    request.once('end', () => resolve(at === length ? bytes : null))
    request.once('close', () => resolve(null))
  })
}

export function faultReply(error: StoreError): WireReply {
  const { status, text } = wireFault(error)
  return { status, body: text }
}

/** Resolves when the answer has left, or its connection has gone. */
export function send(response: ServerResponse, { status, body }: WireReply, isLast: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (response.closed) return resolve()
    const overdue = setTimeout(() => response.destroy(), answerMs)
    response.once('close', () => {
      clearTimeout(overdue)
      resolve()
    })
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(isLast && { connection: 'close' }),
    })
    response.end(body)
  })
}

/** A client that does not keep to the wire learns nothing, and its connection ends. */
export function refuse(response: ServerResponse, status: number): Promise<void> {
  return send(response, { status, body: '{}' }, true)
}
