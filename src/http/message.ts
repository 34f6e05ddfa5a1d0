import type { ApiTokenPrincipal, JwtPrincipal } from '../model/principal.js'
import type { NativeExchange } from '../model/visitor.js'

/** Header names are lower-case; a repeated header is an array or joined, as Node does it. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/** A request body: still on the wire, or already parsed by a body parser of the application. */
export type RequestBody =
  | {
      kind: 'stream'
      /** Reads the whole body once; null when it is larger than `limitBytes`. */
      read(limitBytes: number): Promise<Uint8Array | null>
      /**
       * The body piece by piece, at the pace of its reader. Only Node's adapter has it.
       *
       * @throws {AuthError} here and while it is read: `payload_too_large`; `invalid_request` when the client has gone
       */
      pieces?(limitBytes: number): AsyncIterable<Uint8Array>
    }
  | { kind: 'parsed'; value: unknown }

/** A request as plain data, the same for every framework. */
export interface HttpRequest {
  /** As sent; methods are case-sensitive (RFC 9110 §9.1). */
  method: string
  /** The raw path as sent, without query, below `mount`; never decoded. */
  path: string
  /** The raw query without `?`; empty when there is none. */
  query: string
  /** The path prefix that the framework removed before our middleware, or the space of a codehooks app; else empty. */
  mount: string
  headers: RequestHeaders
  /** Names and values alternating, as sent, where the framework keeps them. Shows repeated headers. */
  rawHeaders: readonly string[] | null
  /** The address of the socket's other end; null when unknown. Throws `AuthError` when the client has disconnected. */
  ip: string | null
  body: RequestBody
  /**
   * The principal that the guard of a space host found in front of the application, by an API token or JWT of the space. No
   * client can set it.
   */
  hostPrincipal?: ApiTokenPrincipal | JwtPrincipal
  /** Finds the application's own hook for a path, where the framework has such hooks. */
  hook?: RequestHook
  /** The framework's own request and response, for hooks; null where it has no such pair. */
  native: NativeExchange | null
}

/** Finds the hook that is responsible for a path; null when the application has none. */
export type RequestHook = (path: string) => {
  /** The hook's name, which becomes the subject of the principal. */
  name: string
  /** Whether the hook allows the request. Throws or rejects when the hook fails. */
  decide(): boolean | Promise<boolean>
} | null

/** A response of ours. */
export interface HttpResponse {
  status: number
  headers: Readonly<Record<string, string | readonly string[]>>
  body: ResponseBody
}

/** Pieces are sent at the pace of the client. Only Node's adapter carries them. */
export type ResponseBody = string | Uint8Array | AsyncIterable<Uint8Array> | null

/** @throws {TypeError} for pieces, where an adapter cannot carry them: only the host has such routes */
export function wholeBody(body: ResponseBody): string | Uint8Array | null {
  if (isPieces(body)) throw new TypeError('This adapter carries no body in pieces.')
  return body
}

export function isPieces(body: ResponseBody): body is AsyncIterable<Uint8Array> {
  return body !== null && typeof body !== 'string' && Symbol.asyncIterator in body
}

/**
 * The same pieces. An error is reported before it reaches the adapter, which can only cut the answer off. Once the reader has left
 * and the source was closed, an error is expected and not reported.
 */
export function reported(
  pieces: AsyncIterable<Uint8Array>,
  report: (error: unknown) => void,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = pieces[Symbol.asyncIterator]()
      let hasLeft = false
      return {
        async next() {
          try {
            return await iterator.next()
          } catch (error) {
            if (!hasLeft) report(error)
            throw error
          }
        },
        async return() {
          hasLeft = true
          await iterator.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

/**
 * The body of an upload.
 *
 * @throws {AuthError} as `pieces`
 * @throws {TypeError} for a body that was read before, and where the adapter has no pieces
 */
export function uploadOf({ body }: Pick<HttpRequest, 'body'>, limitBytes: number): AsyncIterable<Uint8Array> {
  if (body.kind === 'stream' && body.pieces !== undefined) return body.pieces(limitBytes)
  throw new TypeError('The body was read before, or the adapter carries no pieces.')
}

/**
 * The one value of a header, or null when it is absent or was sent more than once.
 *
 * @param value the header's value, when the caller has read it already
 */
export function singleHeader(
  request: Pick<HttpRequest, 'headers' | 'rawHeaders'>,
  name: string,
  value = request.headers[name],
): string | null {
  if (typeof value !== 'string') return null
  const { rawHeaders } = request
  if (rawHeaders === null) return value

  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index]
    // Many names are lower case already, and need no copy.
    if (raw?.length === name.length && (raw === name || raw.toLowerCase() === name)) seen += 1
  }
  return seen === 1 ? value : null
}

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1), or null. */
export function bearerToken(request: Pick<HttpRequest, 'headers' | 'rawHeaders'>): string | null {
  const header = singleHeader(request, 'authorization')
  if (header === null || header.slice(0, 7).toLowerCase() !== 'bearer ') return null
  return header.slice(7)
}

/**
 * Whether a method only reads (RFC 9110 §9.2.1). Any other method, and the same in another case, counts as a write. Compared
 * one by one, which is faster than a set; every request runs this.
 */
export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
