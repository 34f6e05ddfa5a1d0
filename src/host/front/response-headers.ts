import { type CookieSpace, controls, setCookieOf } from './cookies.js'
import { endsHere, type NamedHeaders, namedByConnection } from './hop-by-hop.js'

/**
 * Headers that command the proxy in front of us or the whole origin. All spaces share an origin, so none may send them. A
 * name that ends in `*` stands for all names that begin like it.
 */
const commandingHeaders: readonly string[] = Object.freeze([
  'alt-svc',
  'clear-site-data',
  'nel',
  'report-to',
  'service-worker-allowed',
  'strict-transport-security',
  'x-accel-*',
  'x-lighttpd-*',
  'x-reproxy-*',
  'x-sendfile*',
])

const names: ReadonlySet<string> = new Set(commandingHeaders.filter((name) => !name.endsWith('*')))
const prefixes: readonly string[] = commandingHeaders
  .filter((name) => name.endsWith('*'))
  .map((name) => name.slice(0, -1))

export interface AnswerRules {
  cookies: CookieSpace
  requestPath: string
  /** Headers of the guard (CORS, caching). The application's own come first; `vary` is added to. */
  added: Readonly<Record<string, string>> | null
}

/** The headers of an answer for the client. */
export interface AnswerHeaders {
  /** Names and values alternating. */
  list: string[]
  /** Whether `Content-Length` says where the body ends. */
  hasLength: boolean
}

/**
 * The headers of the child's answer for the client. null when they frame the body in two ways (two lengths, two encodings, or
 * both), and for an encoding other than `chunked` (RFC 9112 §6.3).
 */
export function headersForClient(
  raw: readonly string[],
  { cookies, requestPath, added }: AnswerRules,
): AnswerHeaders | null {
  const framing = framingOf(raw)
  if (framing === null) return null
  const list: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    const lower = name.toLowerCase()
    if (endsHere(lower, framing.named) || isCommand(lower)) continue
    const value = raw[index + 1] ?? ''
    if (controls.test(value)) continue
    const kept = lower === 'set-cookie' ? setCookieOf(cookies, value, requestPath) : value
    if (kept !== null) list.push(name, kept)
  }
  if (added !== null) addHeaders(list, added)
  return { list, hasLength: framing.hasLength }
}

function isCommand(name: string): boolean {
  return names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

function framingOf(raw: readonly string[]): { hasLength: boolean; named: NamedHeaders } | null {
  const connection: string[] = []
  const lengths: string[] = []
  const encodings: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase()
    const value = raw[index + 1] ?? ''
    if (name === 'content-length') lengths.push(value)
    else if (name === 'transfer-encoding') encodings.push(value)
    else if (name === 'connection') connection.push(value)
  }
  if (lengths.length + encodings.length > 1) return null
  if (encodings.some((encoding) => encoding.toLowerCase() !== 'chunked')) return null
  const named = namedByConnection(connection.join(','))
  return { hasLength: lengths.length === 1 && named?.has('content-length') !== true, named }
}

function addHeaders(list: string[], added: Readonly<Record<string, string>>): void {
  const sent = new Set(list.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()))
  for (const [name, value] of Object.entries(added)) if (name === 'vary' || !sent.has(name)) list.push(name, value)
}
