import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { hostSymbol } from '../hop.js'
import type { ParsedBody } from './body.js'
import { readPairs } from './query.js'

/** What all request objects of one request share. */
export interface Arrival {
  raw: IncomingMessage
  /** The headers that application code may see. Shared, so a hook may set one for the route. */
  headers: IncomingHttpHeaders
  /** With the space. */
  path: string
  /** Without the space. */
  apiPath: string
  /** null for a body that stays a stream. */
  parsed: ParsedBody | null
  /** Frozen. null for a request without one. */
  principal: object | null
}

export interface AppRequest {
  method: string
  hostname: string
  headers: IncomingHttpHeaders
  query: Record<string, string | string[]>
  /** Of the matched route, also within middleware. Never decoded. */
  params: Readonly<Record<string, string>>
  body: unknown
  rawBody?: string
  path: string
  apiPath: string
  originalUrl: string
  auth: object | null
}

/**
 * The `req` of codehooks-js. Auth hooks and the route get one each, so that only headers travel between them, as on the
 * platform.
 */
export function createRequest(arrival: Arrival, params: AppRequest['params']): AppRequest {
  const { raw, headers, path, apiPath, parsed, principal } = arrival
  const url = raw.url ?? '/'
  const question = url.indexOf('?')
  const req: AppRequest = {
    method: raw.method ?? 'GET',
    hostname: (headers.host ?? '').replace(/:\d+$/, ''),
    headers,
    query: readPairs(question === -1 ? '' : url.slice(question + 1)),
    params,
    body: parsed === null ? {} : parsed.body,
    ...(parsed !== null && { rawBody: parsed.rawBody }),
    path,
    apiPath,
    originalUrl: url,
    auth: principal,
  }
  Object.defineProperty(req, hostSymbol, { value: principal })
  return Object.assign(req, streamOf(raw, parsed))
}

/** The methods of a stream that applications and upload parsers use. A parsed body can be read once more as a stream. */
function streamOf(raw: IncomingMessage, parsed: ParsedBody | null): object {
  let opened: Readable | null = parsed === null ? raw : null
  const source = (): Readable => {
    opened ??= Readable.from([Buffer.from(parsed?.rawBody ?? '')], { objectMode: false })
    return opened
  }
  const methods = {
    on(event: string, listener: (...input: unknown[]) => void) {
      source().on(event, listener)
      return methods
    },
    once(event: string, listener: (...input: unknown[]) => void) {
      source().once(event, listener)
      return methods
    },
    off(event: string, listener: (...input: unknown[]) => void) {
      source().off(event, listener)
      return methods
    },
    pipe: <T extends NodeJS.WritableStream>(target: T) => source().pipe(target),
    unpipe(target?: NodeJS.WritableStream) {
      source().unpipe(target)
      return methods
    },
    pause: () => source().pause(),
    resume: () => source().resume(),
    [Symbol.asyncIterator]: () => source()[Symbol.asyncIterator](),
  }
  return methods
}
