import type { IncomingMessage, ServerResponse } from 'node:http'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import { AuthError } from '../../errors.js'
import { trimBlanks } from '../../lib/http-blanks.js'
import type { Principal } from '../../model/principal.js'
import { type AnswerRules, headersForClient } from './headers.js'
import type { Child, Space } from './space.js'

/** A request that passed the guard, on its way to the child. */
export interface Hop {
  space: Space
  child: Child
  request: IncomingMessage
  response: ServerResponse
  /** Path and query. */
  target: string
  headers: string[]
  /** How the request frames its body. */
  body: 'none' | 'length' | 'chunked'
  answer: AnswerRules
  principal: Principal | null
  /** Answers the client, whose answer has not begun. */
  fail(fault: AuthError): void
}

/** Passes a request on, and the answer back. Never throws. */
export type ProxyRequest = (hop: Hop) => void

/** How long a connection to a child may take. Its socket is on this machine. */
const connectTimeoutMs = 2_000

/** Connections are kept by child, so those of a child that has ended go with it. */
export function createProxy(): ProxyRequest {
  const pools = new WeakMap<Child, Pool>()
  return (hop) => {
    const { child, space, request } = hop
    let pool = pools.get(child)
    if (pool === undefined) {
      pool = poolOf(child, space.limits.headersBytes)
      pools.set(child, pool)
    }
    const exchange = new Exchange(hop)
    exchange.begin()
    pool.dispatch(
      {
        path: hop.target,
        method: request.method ?? 'GET',
        headers: hop.headers,
        body: hop.body === 'none' ? null : request,
      },
      exchange,
    )
  }
}

/** The client's socket has the timeouts, so the pool needs none. */
function poolOf(child: Child, headersBytes: number): Pool {
  return new Pool('http://child', {
    // Asked for each connection, because the path changes when the child has gone.
    connect: (options, callback) =>
      buildConnector({ socketPath: child.socketPath, timeout: connectTimeoutMs })(options, callback),
    maxHeaderSize: headersBytes,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

type Controller = Dispatcher.DispatchController

/** One request and its answer. It settles once: when the child has answered or failed, or when the front gives up. */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly hop: Hop
  private controller: Controller | null = null
  private fault: AuthError | null = null
  private isSettled = false
  private hasBody = false
  private endRequest = () => {}
  private endWatch = () => {}

  constructor(hop: Hop) {
    this.hop = hop
  }

  begin(): void {
    const { space, child, response } = this.hop
    this.endRequest = child.begin()
    response.on('close', () => this.onClose())
    response.on('drain', () => this.controller?.resume())
    // Every byte from or to the client restarts this timeout. It expires when the child neither sends nor reads.
    response.setTimeout(space.limits.requestMs, () => this.onTimeout())
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller
    if (this.fault !== null) controller.abort(this.fault)
    else if (this.hop.body === 'chunked') this.countBody()
  }

  onResponseStart(controller: Controller, status: number): void {
    const { request, response, space, principal } = this.hop
    const headers = headersForClient(textsOf(controller.rawHeaders), this.hop.answer)
    // `Expect` never reaches the child, so it has no reason to send an interim response.
    if (headers === null || status < 200 || status > 599) {
      this.giveUp(new AuthError('application_failed'))
      return
    }
    // After the answer, the front does not read the rest of the body.
    if (!request.complete) headers.list.push('connection', 'close')
    response.writeHead(status, headers.list)
    if (isEventStream(headers.list)) this.lasts()
    // Node keeps the head back until the body begins, which an event stream may do late.
    queueMicrotask(() => this.hasBody || this.isSettled || response.flushHeaders())
    if (principal === null || headers.hasLength) return
    this.endWatch = space.guard.watch(principal, () => this.giveUp(new AuthError('token_revoked')))
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.hasBody = true
    if (!this.hop.response.write(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    if (this.settle()) this.hop.response.end()
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (!this.settle()) return
    const { response } = this.hop
    // A cut connection is the only way to say that an answer is incomplete.
    if (response.headersSent) response.destroy()
    else if (!response.destroyed) this.hop.fail(this.fault ?? faultOf(error))
  }

  /** Every answer ends with `close`; a fault costs a stack trace, so only a client that left early gets one. */
  private onClose(): void {
    if (!this.isSettled) this.giveUp(new AuthError('invalid_request', { explain: 'client: it has gone' }))
  }

  /** Cuts the connection of a client that does not read the rest of a finished answer. */
  private onTimeout(): void {
    if (this.isSettled) this.hop.response.destroy()
    else this.giveUp(this.stalled())
  }

  /** Ends the child's request; then `onResponseError` follows. */
  private giveUp(fault: AuthError): void {
    if (this.isSettled) return
    this.fault = fault
    if (this.controller === null) this.failBeforeStart(fault)
    else this.controller.abort(fault)
  }

  /** No connection to the child is free yet. The request is dropped as soon as there is one. */
  private failBeforeStart(fault: AuthError): void {
    this.settle()
    if (!this.hop.response.destroyed) this.hop.fail(fault)
  }

  private lasts(): void {
    const endRequest = this.endRequest
    this.endRequest = this.hop.child.begin('eventStream')
    endRequest()
  }

  /** False when it was settled before. */
  private settle(): boolean {
    if (this.isSettled) return false
    this.isSettled = true
    this.endWatch()
    this.endRequest()
    return true
  }

  private countBody(): void {
    const { request, space } = this.hop
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > space.limits.streamBytes) this.giveUp(new AuthError('payload_too_large'))
    })
  }

  /** A body that is paused waits for the child to read it. */
  private stalled(): AuthError {
    const { request } = this.hop
    if (request.complete || request.isPaused()) return new AuthError('application_timeout')
    return new AuthError('invalid_request', { detail: 'The rest of the request body did not arrive.' })
  }
}

/** Header names and values as text; Latin-1, as Node writes them again. */
function textsOf(raw: Controller['rawHeaders']): string[] {
  const texts: string[] = []
  if (!Array.isArray(raw)) return texts
  for (const item of raw) texts.push(typeof item === 'string' ? item : item.toString('latin1'))
  return texts
}

function isEventStream(list: readonly string[]): boolean {
  const at = list.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === 'content-type')
  return at !== -1 && /^text\/event-stream[ \t]*(;|$)/i.test(trimBlanks(list[at + 1] ?? ''))
}

/** Nothing was sent to the child yet, so the client may try again. */
const notConnected = ['ECONNREFUSED', 'ENOENT', 'EAGAIN', 'UND_ERR_CONNECT_TIMEOUT']
/** The client sent what cannot be written into a request. */
const notSendable = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED']

function faultOf(error: Error): AuthError {
  const code = 'code' in error ? String(error.code) : ''
  if (notConnected.includes(code)) return new AuthError('application_starting', { retryAfterSeconds: 1, cause: error })
  if (notSendable.includes(code)) return new AuthError('invalid_request', { cause: error })
  return new AuthError('application_failed', { cause: error })
}
