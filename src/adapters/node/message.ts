import type { IncomingMessage, ServerResponse } from 'node:http'
import { AuthError } from '../../errors.js'
import type { HttpRequest, RequestBody, RequestHeaders } from '../../http/message.js'
import type { Principal } from '../../model/principal.js'
import { endsInHost, mountPrefix, originForm } from '../request-target.js'
import { peerAddress } from './peer-address.js'

/** A request as Node's server passes it on, with what frameworks add to it. */
export interface NodeRequest extends IncomingMessage {
  /** The URL before a framework took a mount prefix off. */
  originalUrl?: string | undefined
  /** What a body parser made of the body. */
  body?: unknown
  auth?: Principal | null
}

/** Gives a request and its response what the framework itself adds before it calls a handler. */
export type Dress = (req: NodeRequest, res: ServerResponse) => void

/** The request as plain data. Its body is not touched unless it is read. */
export function readRequest(req: NodeRequest): HttpRequest {
  return new NodeMessage(req, null, () => {})
}

/** A class with getters: one is created for every request, and most requests need only a few of the values. */
export class NodeMessage implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: RequestHeaders
  private readonly req: NodeRequest
  private readonly res: ServerResponse | null
  private readonly dress: Dress
  private readonly beforeBody: () => void
  /** `req.url` when the middleware ran. Routers change `req.url` later. */
  private readonly url: string

  /** @param beforeBody called when something begins to read the body */
  constructor(req: NodeRequest, res: ServerResponse | null, dress: Dress, beforeBody = () => {}) {
    this.req = req
    this.res = res
    this.dress = dress
    this.beforeBody = beforeBody
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
    return bodyOf(this.req, this.beforeBody)
  }

  get native(): HttpRequest['native'] {
    if (this.res === null) return null
    this.dress(this.req, this.res)
    return { request: this.req, response: this.res }
  }
}

/** The path of a request target. */
export function pathOf(url: string): string {
  const target = originForm(url)
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

/** Only `req.body` is left of a stream that was read. A parser that skipped a request leaves `{}` and an unread stream. */
function bodyOf(req: NodeRequest, beforeBody: () => void): RequestBody {
  if (req.readableDidRead === false && !req.readableEnded) {
    return {
      kind: 'stream',
      read(limitBytes) {
        beforeBody()
        return readBody(req, limitBytes)
      },
      pieces(limitBytes) {
        const pieces = receivePieces(req, limitBytes)
        beforeBody()
        return pieces
      },
    }
  }
  return { kind: 'parsed', value: req.body }
}

/**
 * Never rejects. null for a body over the limit, and for one that stays incomplete because the client disconnected.
 *
 * Over the limit, the rest of the stream is read and dropped, so that the connection can be reused.
 */
function readBody(stream: NodeRequest, limitBytes: number): Promise<Uint8Array | null> {
  if (stream.destroyed || Number(stream.headers['content-length']) > limitBytes) return Promise.resolve(null)
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let size = 0
    // The listeners stay attached: a promise settles once.
    const onData = (chunk: Uint8Array | string) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      size += bytes.length
      if (size > limitBytes) onGone()
      else chunks.push(bytes)
    }
    const onEnd = () => settle(Buffer.concat(chunks))
    const onGone = () => settle(null)
    stream.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)

    /** Frees the chunks, since the stream and its listeners may live on. */
    function settle(body: Uint8Array | null): void {
      resolve(body)
      chunks.length = 0
    }
  })
}

/**
 * A request body piece by piece. The connection reads no faster than the pieces are taken. A reader that stops early leaves
 * the rest unread, and the connection open for the answer.
 *
 * @throws {AuthError} `payload_too_large`; `invalid_request` when the client has gone
 */
function receivePieces(req: IncomingMessage, limitBytes: number): AsyncIterable<Uint8Array> {
  if (Number(req.headers['content-length']) > limitBytes) throw new AuthError('payload_too_large')
  return taken(req, limitBytes)
}

async function* taken(req: IncomingMessage, limitBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  const chunks: AsyncIterator<unknown> = req.iterator({ destroyOnReturn: false })
  for (;;) {
    const { done, value } = await chunks.next().catch((cause: unknown) => {
      throw new AuthError('invalid_request', { cause, explain: 'client: it has gone' })
    })
    if (done === true) break
    if (!(value instanceof Uint8Array)) throw new TypeError('The body was decoded before.')
    size += value.length
    if (size > limitBytes) throw new AuthError('payload_too_large')
    yield value
  }
  // Node ends the stream of a client that has gone, too.
  if (!req.complete) throw new AuthError('invalid_request', { explain: 'client: it has gone' })
}
