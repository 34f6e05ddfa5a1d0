import { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpRequest, HttpResponse, RequestBody, RequestHeaders } from '../../http/message.js'
import type { Ask, ForwardedHeaders, Handle, Pass, Verdict } from '../../http/verdict.js'
import { isApiKeyName, withQuery } from '../../lib/api-key-query.js'
import type { Principal } from '../../model/principal.js'
import { decide, failure, type Gate } from '../adapter.js'
import { mountPrefix } from '../mount-prefix.js'
import { endsInHost, originForm } from '../request-target.js'
import { addHeaders } from './add-headers.js'
import { peerAddress } from './peer-address.js'
import { dropUnread } from './unread-headers.js'

/** A request as node's server and the frameworks around it hand it on. */
export interface NodeRequest extends IncomingMessage {
  /** The URL before a framework took a mount prefix off. */
  originalUrl?: string | undefined
  /** What a body parser made of the body. */
  body?: unknown
  auth?: Principal | null
}

/** `next` is told by what the request passed; a framework's own, which takes what it gets for an error, is not. */
export type NodeListener = (req: NodeRequest, res: ServerResponse, next: (pass: Pass) => void) => void

/** Makes a request and its response what handlers of the framework would see by now. */
export type Dress = (req: NodeRequest, res: ServerResponse) => void

/**
 * `handle` as middleware. Synchronous as long as `handle` is; what `next` does or throws is the application's.
 *
 * @param dress called before a hook is shown the pair, where the framework has not been at them yet
 */
export function createListener(handle: Handle, dress: Dress = asItIs): NodeListener {
  return listener((req, res) => handle(new NodeMessage(req, res, dress)))
}

function asItIs(): void {}

function listener(judge: (req: NodeRequest, res: ServerResponse) => Verdict | Promise<Verdict>): NodeListener {
  const carryOut = (verdict: Verdict, req: NodeRequest, res: ServerResponse, next: (pass: Pass) => void) => {
    if (verdict.kind === 'answer') answer(req, res, verdict.response)
    else if (passOn(req, res, verdict)) next(verdict)
  }
  // A function of its own for the same reason as in `guard/guard.ts`: see `whenFresh`.
  const carryOutLater = (verdict: Promise<Verdict>, ...[req, res, next]: Parameters<NodeListener>) => {
    void verdict.then((settled) => carryOut(settled, req, res, next))
  }
  return function latchkey(req, res, next) {
    const verdict = decide(judge, req, res)
    if ('then' in verdict) carryOutLater(verdict, req, res, next)
    else carryOut(verdict, req, res, next)
  }
}

/** The same for a single route. */
export function createGate(ask: Ask): NodeListener {
  return listener((req) => ask(readRequest(req), req.auth ?? null))
}

/** The same in the form of `(req, res, next)` for whoever hands them over. */
export function nodeGate(ask: Ask): Gate {
  const layer = createGate(ask)
  return (req, res, next) => {
    if (!(req instanceof IncomingMessage && res instanceof ServerResponse)) throw new TypeError('not a request of node')
    layer(req, res, () => next())
  }
}

/** The request as plain data. Its body is not touched unless it is read. */
export function readRequest(req: NodeRequest): HttpRequest {
  return new NodeMessage(req, null, asItIs)
}

/** A class with getters, since one is made for every request and few are asked for everything. */
class NodeMessage implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: RequestHeaders
  private readonly req: NodeRequest
  private readonly res: ServerResponse | null
  private readonly dress: Dress
  /** As it was when the layer saw it: routers change `req.url` on the way. */
  private readonly url: string

  constructor(req: NodeRequest, res: ServerResponse | null, dress: Dress) {
    this.req = req
    this.res = res
    this.dress = dress
    this.url = req.url ?? '/'
    const target = endsInHost(req.headers.host) ? '' : originForm(this.url)
    const mark = target.indexOf('?')
    this.method = req.method ?? 'GET'
    this.path = mark === -1 ? target : target.slice(0, mark)
    this.query = mark === -1 ? '' : target.slice(mark + 1)
    this.headers = req.headers
  }

  get rawHeaders(): readonly string[] {
    return this.req.rawHeaders
  }

  get mount(): string {
    const { originalUrl } = this.req
    return originalUrl === undefined || originalUrl === this.url ? '' : mountPrefix(pathOf(originalUrl), this.path)
  }

  get ip(): string | null {
    return peerAddress(this.req.socket)
  }

  get body(): RequestBody {
    return bodyOf(this.req)
  }

  get native(): HttpRequest['native'] {
    if (this.res === null) return null
    this.dress(this.req, this.res)
    return { request: this.req, response: this.res }
  }
}

function pathOf(url: string): string {
  const target = originForm(url)
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

/** Whoever has read the stream has left us `req.body` at best; `{}` beside an unread stream is a parser that passed. */
function bodyOf(req: NodeRequest): RequestBody {
  if (req.readableDidRead === false && !req.readableEnded) {
    return { kind: 'stream', read: (limitBytes) => readBody(req, limitBytes) }
  }
  return { kind: 'parsed', value: req.body }
}

/**
 * null also for a body that will never be complete, since its client is gone. Never rejects.
 *
 * Beyond the limit the stream flows on and what comes is dropped, so that the connection can be used again.
 */
function readBody(stream: NodeRequest, limitBytes: number): Promise<Uint8Array | null> {
  if (stream.destroyed || Number(stream.headers['content-length']) > limitBytes) return Promise.resolve(null)
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let size = 0
    // The listeners stay on, as a promise settles once: after an `off` node's event functions are slower for all requests.
    const onData = (chunk: Uint8Array | string) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      size += bytes.length
      if (size > limitBytes) onGone()
      else chunks.push(bytes)
    }
    const onEnd = () => settle(Buffer.concat(chunks))
    const onGone = () => settle(null)
    stream.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)

    /** Once. What came is no longer kept here, since the stream may outlive it. */
    function settle(body: Uint8Array | null): void {
      resolve(body)
      chunks.length = 0
    }
  })
}

/** Sends an answer of ours. A body that nobody has read is drained by node; 413 closes the connection. */
function answer(req: NodeRequest, res: ServerResponse, response: HttpResponse): void {
  if (res.headersSent) return
  try {
    write(req, res, response)
  } catch {
    // A strict server refuses a body where none may be, after the headers have gone.
    if (res.headersSent) return void res.destroy()
    for (const name of res.getHeaderNames()) res.removeHeader(name)
    write(req, res, failure)
  }
}

function write(req: NodeRequest, res: ServerResponse, { status, headers, body }: HttpResponse): void {
  res.statusCode = status
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  if (status === 413) res.setHeader('connection', 'close')
  if (body === null) return void res.end()
  if (req.method !== 'HEAD') return void res.end(body)
  res.setHeader('content-length', Buffer.byteLength(body))
  res.end()
}

/** Makes the request what the application is to see. False: that failed, and the request is answered. */
function passOn(req: NodeRequest, res: ServerResponse, pass: Pass): boolean {
  try {
    if (pass.responseHeaders !== null) addHeaders(res, pass.responseHeaders)
    dressRequest(req, pass)
    return true
  } catch {
    answer(req, res, failure)
    return false
  }
}

export function dressRequest(req: NodeRequest, { spoofedHeaders, query, forwarded, principal }: Pass): void {
  if (query !== null) writeQuery(req, query)
  if (spoofedHeaders.length > 0) dropHeaders(req, spoofedHeaders)
  if (forwarded !== null) {
    dropUnread(req)
    writeHeaders(req.headers, forwarded)
  }
  req.auth = principal
}

/**
 * What the client made up goes from `rawHeaders` too, which proxies forward, and so from `headersDistinct`, which node reads
 * out of them when it is asked for: by a count of its own, which would lead beyond the end.
 */
function dropHeaders(req: NodeRequest, spoofedHeaders: readonly string[]): void {
  const { headers, rawHeaders } = req
  for (const name of spoofedHeaders) delete headers[name]
  let kept = 0
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    if (spoofedHeaders.includes(name.toLowerCase())) continue
    rawHeaders[kept] = name
    rawHeaders[kept + 1] = value
    kept += 2
  }
  rawHeaders.length = kept
  for (const symbol of Object.getOwnPropertySymbols(req)) {
    if (symbol.description === 'kHeadersCount') Reflect.set(req, symbol, kept)
    // Somebody before us has asked for them; node reads them anew.
    else if (symbol.description === 'kHeadersDistinct') Reflect.set(req, symbol, null)
  }
}

/** Everywhere that the application may look. Express 4 and others keep what they have parsed of it; Express 5 parses anew. */
function writeQuery(req: NodeRequest, query: string): void {
  req.url = withQuery(req.url ?? '/', query)
  if (req.originalUrl !== undefined) req.originalUrl = withQuery(req.originalUrl, query)
  if (Object.hasOwn(req, 'query')) dropApiKey(Reflect.get(req, 'query'))
}

/** Out of a query as a framework has parsed it; some have no prototype. */
export function dropApiKey(parsed: unknown): void {
  if (typeof parsed !== 'object' || parsed === null) return
  for (const name of Object.keys(parsed)) if (isApiKeyName(name)) Reflect.deleteProperty(parsed, name)
}

/** Each by its name: a loop over names takes longer than everything else the guard does. */
export function writeHeaders(headers: NodeRequest['headers'], forwarded: ForwardedHeaders): void {
  headers['x-request-id'] = forwarded['x-request-id']
  const ip = forwarded['x-real-ip']
  if (ip !== null) headers['x-real-ip'] = ip
  const chain = forwarded['x-forwarded-for']
  if (chain !== null) headers['x-forwarded-for'] = chain
  headers['x-forwarded-host'] = forwarded['x-forwarded-host']
  headers['x-forwarded-port'] = forwarded['x-forwarded-port']
  headers['x-forwarded-proto'] = forwarded['x-forwarded-proto']
  headers['x-forwarded-scheme'] = forwarded['x-forwarded-scheme']
  headers['x-scheme'] = forwarded['x-scheme']
  const apiKey = forwarded['x-api-key']
  if (apiKey !== null) headers['x-api-key'] = apiKey
}

/** The same where names and values stand in turn: most of them at once, since each call may have to make room. */
export function listHeaders(rawHeaders: string[], forwarded: ForwardedHeaders): void {
  rawHeaders.push(
    'x-request-id',
    forwarded['x-request-id'],
    'x-forwarded-host',
    forwarded['x-forwarded-host'],
    'x-forwarded-port',
    forwarded['x-forwarded-port'],
    'x-forwarded-proto',
    forwarded['x-forwarded-proto'],
    'x-forwarded-scheme',
    forwarded['x-forwarded-scheme'],
    'x-scheme',
    forwarded['x-scheme'],
  )
  const ip = forwarded['x-real-ip']
  if (ip !== null) rawHeaders.push('x-real-ip', ip)
  const chain = forwarded['x-forwarded-for']
  if (chain !== null) rawHeaders.push('x-forwarded-for', chain)
  const apiKey = forwarded['x-api-key']
  if (apiKey !== null) rawHeaders.push('x-api-key', apiKey)
}
