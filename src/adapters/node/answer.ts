import { IncomingMessage, ServerResponse } from 'node:http'
import { type HttpResponse, isPieces } from '../../http/message.js'
import type { Ask, Handle, Pass, Verdict } from '../../http/verdict.js'
import { decide, failure, type Gate } from '../adapter.js'
import { addHeaders } from './add-headers.js'
import { dressRequest } from './headers.js'
import { type Dress, NodeMessage, type NodeRequest, readRequest } from './message.js'
import { cancelPieces, sendPieces } from './pieces.js'

/** `next` gets the verdict, except a framework's own `next`, which would take an argument for an error. */
export type NodeListener = (req: NodeRequest, res: ServerResponse, next: (pass: Pass) => void) => void

/**
 * `handle` as middleware. Synchronous as long as `handle` is. Errors that `next` throws belong to the application.
 *
 * @param dress called before a hook sees the request, where the framework has not prepared it yet
 */
export function createListener(handle: Handle, dress: Dress = () => {}): NodeListener {
  return listener((req, res) => handle(new NodeMessage(req, res, dress)))
}

/** The same for the event `checkContinue`: the client is told to go on when its body is read, not before. */
export function createContinueListener(handle: Handle): NodeListener {
  return listener((req, res) =>
    handle(
      new NodeMessage(
        req,
        res,
        () => {},
        () => res.writeContinue(),
      ),
    ),
  )
}

/** The same for a single route. */
export function createGate(ask: Ask): NodeListener {
  return listener((req) => ask(readRequest(req), req.auth ?? null))
}

/** The same in the form of `(req, res, next)`, where `next` takes no verdict. */
export function nodeGate(ask: Ask): Gate {
  const layer = createGate(ask)
  return (req, res, next) => {
    if (!(req instanceof IncomingMessage && res instanceof ServerResponse)) throw new TypeError('not a request of node')
    layer(req, res, () => next())
  }
}

function listener(judge: (req: NodeRequest, res: ServerResponse) => Verdict | Promise<Verdict>): NodeListener {
  return function latchkey(req, res, next) {
    const carryOut = (verdict: Verdict) => {
      if (verdict.kind === 'answer') answer(req, res, verdict.response)
      else if (passOn(req, res, verdict)) next(verdict)
    }
    const verdict = decide(judge, req, res)
    if ('then' in verdict) void verdict.then(carryOut)
    else carryOut(verdict)
  }
}

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
    if (req.method !== 'HEAD') return void sendPieces(res, body)
    cancelPieces(body)
    return void res.end()
  }
  if (req.method === 'HEAD') res.setHeader('content-length', Buffer.byteLength(body))
  res.end(req.method === 'HEAD' ? undefined : body)
}

/** The client waits for a word before it sends its body. It got the answer instead, so the body may never come. */
function isHeldBack(req: NodeRequest): boolean {
  return req.headers?.expect !== undefined && !req.complete && req.readableDidRead === false
}

/** Prepares the request for the application. False: that failed, and the request has its response. */
export function passOn(req: NodeRequest, res: ServerResponse, pass: Pass): boolean {
  try {
    if (pass.responseHeaders !== null) addHeaders(res, pass.responseHeaders)
    dressRequest(req, pass)
    return true
  } catch {
    answer(req, res, failure)
    return false
  }
}
