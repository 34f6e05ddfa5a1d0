import type { NativeExchange } from '../model/visitor.js'

/** Header names are lower-case; a repeated header is an array or joined, as Node does it. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>

/** A request body: still on the wire, or already parsed by a body parser of the application. */
export type RequestBody =
  | {
      kind: 'stream'
      /** Reads the whole body once; null when it is larger than `limitBytes`. */
      read(limitBytes: number): Promise<Uint8Array | null>
    }
  | { kind: 'parsed'; value: unknown }

/** A request as every framework can give it. */
export interface HttpRequest {
  /** As sent; methods are case-sensitive (RFC 9110 §9.1). */
  method: string
  /** The raw path as sent, without query, below `mount`; never decoded. */
  path: string
  /** The raw query without `?`; empty when there is none. */
  query: string
  /** The path prefix that the framework took off before we saw the request, or the space of a codehooks app; else empty. */
  mount: string
  headers: RequestHeaders
  /** Names and values in turn as they came over the wire, where the framework keeps them; shows repeated headers. */
  rawHeaders: readonly string[] | null
  /** Address of the socket's other end; null when the framework cannot tell. Throws `AuthError` when nobody is there any more. */
  ip: string | null
  body: RequestBody
  /** Asks the application's own hook for that path, where the framework has such hooks. */
  hook?: RequestHook
  /** What the framework calls request and response; null where it has no such pair. Asked for where a hook is shown them. */
  native: NativeExchange | null
}

/** The hook that is responsible for a path, or null where the application has none for it. */
export type RequestHook = (path: string) => {
  /** Who lets it pass. */
  name: string
  /** Whether it lets the request pass; false when it has refused it. Throws or rejects when it fails. */
  decide(): boolean | Promise<boolean>
} | null

/** An answer of ours. */
export interface HttpResponse {
  status: number
  headers: Readonly<Record<string, string | readonly string[]>>
  body: string | Uint8Array | null
}

/**
 * The one value of a header, or null when it is absent or was sent more than once.
 *
 * @param value what the request has under that name, from who has looked there already
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
    // Many write names in lower case, and need no second text.
    if (raw?.length === name.length && (raw === name || raw.toLowerCase() === name)) seen += 1
  }
  return seen === 1 ? value : null
}
