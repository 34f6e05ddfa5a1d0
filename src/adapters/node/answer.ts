import type { ServerResponse } from 'node:http'
import { type HttpResponse, isPieces, type ResponseBody } from '../../http/message.js'
import { failure } from '../adapter.js'
import type { NodeRequest } from './message.js'
import { cancelPieces, sendPieces } from './sent-pieces.js'
import { endAfterBody, isCutOff } from './unread-body.js'

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
