import type { ServerResponse } from 'node:http'
import { type HttpResponse, isPieces } from '../../http/message.js'
import { failure } from '../adapter.js'
import type { NodeRequest } from './message.js'
import { cancelPieces, sendPieces } from './sent-pieces.js'

/** Sends our response. Node drains a body that was not read; 413 closes the connection. */
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
    if (req.method !== 'HEAD') return void sendPieces(res, body, () => endAfterBody(req, res))
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

/** How long an answer waits for the rest of a body that no route reads. */
const restMs = 5_000

/**
 * Ends an answer that was written. A connection that is closed before all that the client sent was read is reset, and the client
 * may lose the answer (RFC 9112 §9.6). So the rest of the body is read first, and dropped.
 */
function endAfterBody(req: NodeRequest, res: ServerResponse): void {
  if (!isCutOff(req, res)) return void res.end()
  const end = () => {
    clearTimeout(timer)
    res.end()
  }
  const timer = setTimeout(end, restMs)
  req.once('end', end).once('close', end)
  // A reader by pieces keeps the stream from flowing, also after it has left.
  req.on('readable', () => {
    while (req.read() !== null);
  })
}

/** Whether the rest of the body would be lost with the connection. Node reads it itself where no route began to and the connection stays. */
function isCutOff(req: NodeRequest, res: ServerResponse): boolean {
  if (req.complete !== false || isHeldBack(req)) return false
  return req.readableDidRead || !res.shouldKeepAlive || res.getHeader('connection') === 'close'
}

/** The client waits for a word before it sends its body. It got the answer instead, so the body may never come. */
function isHeldBack(req: NodeRequest): boolean {
  return req.headers?.expect !== undefined && !req.complete && req.readableDidRead === false
}
