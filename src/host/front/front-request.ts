import type { IncomingMessage } from 'node:http'
import { peerAddress } from '../../adapters/node/peer-address.js'
import type { HttpRequest, RequestBody } from '../../http/message.js'
import type { Target } from './target.js'

/** A request to a space as the guard reads it: the path is below the space, and the body stays on the wire. */
export class FrontRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly mount: string
  readonly headers: HttpRequest['headers']
  readonly rawHeaders: readonly string[]
  readonly native = null
  private readonly request: IncomingMessage

  constructor(request: IncomingMessage, { space, path, query }: Target) {
    this.request = request
    this.method = request.method ?? 'GET'
    this.mount = `/${space}`
    this.path = path.slice(this.mount.length) || '/'
    this.query = query
    this.headers = request.headers
    this.rawHeaders = request.rawHeaders
  }

  get ip(): string | null {
    return peerAddress(this.request.socket)
  }

  get body(): RequestBody {
    return unread
  }
}

/** The body is the application's: reading it here would take it away. */
const unread: RequestBody = { kind: 'stream', read: () => Promise.resolve(null) }
