import type { ServerResponse } from 'node:http'
import { type HttpResponse, isPieces, type ResponseBody } from '../../http/message.js'
import { realTimer } from '../../lib/runtime.js'
import { failure } from '../adapter.js'
import type { NodeRequest } from './message.js'

/** Sends our response. 413 closes the connection. */
export function answer(req: NodeRequest, res: ServerResponse, response: HttpResponse): void {
  if (res.headersSent) {
    if (isPieces(response.body)) cancelPieces(response.body)
    return
  }
  try {
    write(req, res, response)
  } catch {
    // A strict server rejects a body on a response that must not have one, after it has sent the headers.
    if (res.headersSent) return void res.destroy()
    for (const name of res.getHeaderNames()) res.removeHeader(name)
    write(req, res, failure)
  }
}

function write(req: NodeRequest, res: ServerResponse, { status, headers, body }: HttpResponse): void {
  res.statusCode = status
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  if (status === 413 || isHeldBack(req)) res.setHeader('connection', 'close')
  if (body === null) return void res.end()
  if (isPieces(body)) {
    if (req.method !== 'HEAD') return void sendPieces(req, res, body, () => endAfterBody(req, res))
    cancelPieces(body)
    return void res.end()
  }
  const isCut = isCutOff(req, res)
  if (isCut || req.method === 'HEAD') res.setHeader('content-length', Buffer.byteLength(body))
  if (req.method === 'HEAD') return void res.end()
  if (!isCut) return void res.end(body)
  res.write(body)
  endAfterBody(req, res)
}

/** The client waits for a word before it sends its body. It got the answer instead, so the body may never come. */
function isHeldBack(req: NodeRequest): boolean {
  return req.headers?.expect !== undefined && !req.complete && req.readableDidRead === false
}

/** The body where pieces cannot be sent; they leave it empty. */
export function wholeIn(body: ResponseBody): string | Uint8Array {
  if (!isPieces(body)) return body ?? ''
  cancelPieces(body)
  return ''
}

/** A client that takes nothing for two minutes is cut off: its answer holds memory and a connection. */
const longestStallMs = 120_000
/** A longer piece is sent in parts, so that a slow client is seen to take them. */
const partBytes = 256 * 1024

/** For pieces that are not sent: lets their source end. */
function cancelPieces(pieces: AsyncIterable<Uint8Array>): void {
  pieces[Symbol.asyncIterator]()
    .return?.()
    .catch(() => {})
}

/**
 * Sends pieces at the pace of the client. When the client leaves, the iterator's `return` is called at once. An error of the
 * iterator cuts the answer off, so that the client does not take a part for the whole; so does a client that takes nothing for
 * two minutes.
 *
 * @param end called after the last piece
 */
async function sendPieces(
  req: NodeRequest,
  res: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
  end: () => void,
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]()
  let isOver = false
  let wake = () => {}
  const drained = () =>
    new Promise<void>((resolve) => {
      const cancel = realTimer(longestStallMs, () => res.destroy())
      wake = () => {
        cancel()
        resolve()
      }
    })
  const stop = () => {
    wake()
    if (isOver) return
    isOver = true
    iterator.return?.().catch(() => {})
  }
  if (res.destroyed) return stop()
  res.once('close', stop)
  res.on('drain', () => wake())
  const start = startAfterBody(req, res)
  try {
    for (;;) {
      const { done, value } = await iterator.next()
      if (isOver) return
      if (done === true) break
      for (let at = 0; at < value.length; at += partBytes) {
        const part = value.subarray(at, at + partBytes)
        if (start.holds(part) || res.write(part)) continue
        await drained()
        if (isOver) return
      }
    }
    isOver = true
    start.now()
    end()
  } catch {
    isOver = true
    res.destroy()
  }
}

/** How long the end of an answer waits for the rest of a body: as long as bytes come, and for 5 s at most. */
const rest = { idleMs: 500, mostMs: 5_000 }
/** What an answer holds back at most while the body still comes: some ten million lines of an import. Beyond, it starts all the same. */
const mostHeldBytes = 1024 * 1024

/**
 * Ends an answer that was written. A connection that is closed before all that the client sent was read is reset, and the client
 * may lose the answer (RFC 9112 §9.6). So the rest of the body is read first, and dropped.
 */
function endAfterBody(req: NodeRequest, res: ServerResponse): void {
  if (!isCutOff(req, res)) return void res.end()
  const end = () => {
    stopIdle()
    stopAll()
    res.end()
  }
  let stopIdle = realTimer(rest.idleMs, end)
  const stopAll = realTimer(rest.mostMs, end)
  req.once('end', end).once('close', end)
  // A route that read pieces keeps the stream from flowing, also after it has left.
  req.on('readable', () => {
    while (req.read() !== null);
    stopIdle()
    stopIdle = realTimer(rest.idleMs, end)
  })
}

/** Whether more of the body may come. */
function hasMore(req: NodeRequest): boolean {
  if (req.httpVersionMajor !== 1 || req.complete !== false || req.destroyed) return false
  return req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined
}

/** Whether closing the connection now would reset it. Node itself reads the rest of a body that no route began to read, if it stays open. */
function isCutOff(req: NodeRequest, res: ServerResponse): boolean {
  if (!hasMore(req) || res.destroyed) return false
  return req.readableDidRead || !res.shouldKeepAlive || res.getHeader('connection') === 'close'
}

interface Start {
  /** Whether the piece waits for the start. */
  holds(piece: Uint8Array): boolean
  now(): void
}

/**
 * Starts an answer in pieces when the body was read to its end: nginx passes on no more of a body once it has the head of the
 * answer. Without a body it starts at once, so that the client learns that its request was accepted.
 */
function startAfterBody(req: NodeRequest, res: ServerResponse): Start {
  const held: Uint8Array[] = []
  let heldBytes = 0
  let hasStarted = false
  const now = () => {
    if (hasStarted || res.destroyed) return
    hasStarted = true
    res.flushHeaders()
    for (const piece of held.splice(0)) res.write(piece)
  }
  // The body of a GET is not read.
  if (hasMore(req) && req.method === 'POST') req.once('end', now)
  else now()
  return {
    holds(piece) {
      if (hasStarted) return false
      held.push(piece)
      heldBytes += piece.length
      if (heldBytes > mostHeldBytes) now()
      return true
    },
    now,
  }
}
