import { IncomingMessage, ServerResponse } from 'node:http'
import type { Ask, Handle, Pass, Verdict } from '../../http/verdict.js'
import { decide, failure, type Gate } from '../adapter.js'
import { answer } from './answer.js'
import { dressRequest } from './headers.js'
import { addHeaders } from './late-vary.js'
import { type Dress, NodeMessage, type NodeRequest, readRequest } from './message.js'

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
