import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { trimBlanks } from '../../../lib/http-blanks.js'
import { isWithinBounds } from '../../documents/bounded-json.js'
import { hostSymbol } from '../hop.js'

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

interface AppRequest {
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

/** What the application finds as `req.body` and `req.rawBody`. */
export interface ParsedBody {
  body: unknown
  /** The text as it was sent, for signatures of webhooks. */
  rawBody: string
}

/** Why a body could not be parsed. */
type BodyFault = 'payload_too_large' | 'invalid_request'

/** A field takes many times its bytes in memory, and the body is parsed before any auth hook runs. */
const maxFormFields = 10_000
/** 10 MiB of `{},{}…` would take 230 MB of heap, almost all of a child. Within this bound the worst body takes 45 MB. */
const jsonBounds = { depth: Number.POSITIVE_INFINITY, parts: 250_000 }

/**
 * Reads and parses JSON and forms. null for other types and for compressed bodies, which stay streams.
 */
export async function readBody(raw: IncomingMessage, limitBytes: number): Promise<ParsedBody | BodyFault | null> {
  const kind = kindOf(raw)
  if (kind === null) return null
  if (Number(raw.headers['content-length'] ?? 0) > limitBytes) return 'payload_too_large'
  const text = await readText(raw, limitBytes)
  if (text === null) return 'payload_too_large'
  if (kind === 'form') return readForm(text)
  if (text.trim() === '') return { body: {}, rawBody: text }
  if (!isWithinBounds(text, jsonBounds)) return 'payload_too_large'
  try {
    return { body: JSON.parse(text), rawBody: text }
  } catch {
    return 'invalid_request'
  }
}

function readForm(text: string): ParsedBody | BodyFault {
  const fields = text.split('&', maxFormFields + 1).length
  return fields > maxFormFields ? 'payload_too_large' : { body: readPairs(text), rawBody: text }
}

function kindOf({ headers }: IncomingMessage): 'json' | 'form' | null {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  if (trimBlanks(encoding).toLowerCase() !== 'identity') return null
  const [text = ''] = type.toLowerCase().split(';')
  const name = trimBlanks(text)
  if (/^application\/(?:[\w.+-]+\+)?json$/.test(name)) return 'json'
  return name === 'application/x-www-form-urlencoded' ? 'form' : null
}

async function readText(raw: IncomingMessage, limitBytes: number): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of raw) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > limitBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** A value for each name, and a list where a name comes more than once. */
export function readPairs(text: string): Record<string, string | string[]> {
  const pairs = new Map<string, string | string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = pairs.get(name)
    if (earlier === undefined) pairs.set(name, value)
    else if (typeof earlier === 'string') pairs.set(name, [earlier, value])
    else earlier.push(value)
  }
  // `__proto__` becomes an own property here, never the prototype.
  return Object.fromEntries(pairs)
}
