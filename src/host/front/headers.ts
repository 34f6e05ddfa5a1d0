import { listHeaders } from '../../adapters/node/headers.js'
import { AuthError } from '../../errors.js'
import { cookieSuffix } from '../../http/cookies.js'
import type { Pass } from '../../http/verdict.js'
import { trimBlanks } from '../../lib/http-blanks.js'
import { encodePrincipal, hopHeader, principalHeader } from '../runner/hop.js'

/** The suffix of the host's own cookies. No space can have this name. */
const hostSuffix = 'host'

/** The space whose cookies are being passed on. */
export interface CookieSpace {
  name: string
  /** The path that browsers see the space at, such as `/dev`. */
  path: string
  /** Whether a space has this name. */
  isSpace(name: string): boolean
}

/**
 * The `Cookie` header for a space: without the host's own cookies and without those that a Latchkey in another space set. All
 * spaces share an origin, and `__Host-` cookies have no path, so browsers send them everywhere. null when nothing is left.
 */
export function cookiesFor(space: CookieSpace, header: string): string | null {
  const pairs = header.split(';')
  const kept = pairs.filter((pair) => !isForeign(space, nameOf(pair)))
  if (kept.length === pairs.length) return header
  return trimBlanks(kept.join(';')) || null
}

/**
 * A `Set-Cookie` line of a space's answer: without `Domain`, and with a `Path` inside the space, except for `__Host-` names,
 * which browsers accept with `Path=/` only. null for a cookie that is not the space's to set.
 *
 * @param requestPath decides the path of a cookie that names none (RFC 6265bis §5.1.4)
 */
export function setCookieOf(space: CookieSpace, line: string, requestPath: string): string | null {
  const [pair = '', ...attributes] = line.split(';')
  const name = nameOf(pair)
  // Browsers send a cookie without a name as its value alone, which may look like another cookie.
  if (name === '' || isForeign(space, name)) return null
  const kept = attributes.filter((attribute) => isRead(attribute) && attributeName(attribute) !== 'domain')
  if (name.startsWith('__Host-')) return [pair, ...kept].join(';')

  const sent = kept.filter((attribute) => attributeName(attribute) === 'path').map(pathValue)
  const paths = sent.length === 0 ? [''] : sent
  const isOwn = (path: string) => isInside(space.path, path.startsWith('/') ? path : defaultPath(requestPath))
  if (paths.every(isOwn)) return [pair, ...kept].join(';')
  const others = kept.filter((attribute) => attributeName(attribute) !== 'path')
  return [pair, ...others, ` Path=${space.path}`].join(';')
}

/** No header may hold one of these (RFC 9110 §5.5), and browsers refuse such a cookie (RFC 6265bis §5.6). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are refused
const controls = /[\0-\x08\x0a-\x1f\x7f]/
/** Browsers ignore an attribute with a longer value (RFC 6265bis §5.6), so the front takes a longer path for a missing one. */
const mostAttributeBytes = 1024

/** Whether every browser reads the attribute alike: printable ASCII, as RFC 6265 §4.1.1 has it, and short. */
function isRead(attribute: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(attribute) && attribute.length <= mostAttributeBytes
}

function isForeign({ name, isSpace }: CookieSpace, cookie: string): boolean {
  const suffix = cookieSuffix(cookie)
  return suffix !== null && suffix !== name && (suffix === hostSuffix || isSpace(suffix))
}

function isInside(spacePath: string, path: string): boolean {
  return path === spacePath || path.startsWith(`${spacePath}/`)
}

function defaultPath(requestPath: string): string {
  return requestPath.slice(0, requestPath.lastIndexOf('/'))
}

/** As browsers read it. A pair without `=` is a value without a name. */
function nameOf(pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? '' : trimBlanks(pair.slice(0, equals))
}

function pathValue(attribute: string): string {
  const equals = attribute.indexOf('=')
  return equals === -1 ? '' : trimBlanks(attribute.slice(equals + 1))
}

function attributeName(attribute: string): string {
  const equals = attribute.indexOf('=')
  return trimBlanks(equals === -1 ? attribute : attribute.slice(0, equals)).toLowerCase()
}

/** Headers of one connection, which a proxy never passes on (RFC 9110 §7.6.1), and those that only matter to a proxy. */
const ofTheConnection: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The lower-case names that a `Connection` header lists; null for none. */
type NamedHeaders = ReadonlySet<string> | null

/** Whether a header ends at this hop: by its name, or because `Connection` names it. */
function endsHere(name: string, named: NamedHeaders): boolean {
  return ofTheConnection.has(name) || named?.has(name) === true
}

/** The usual values, `keep-alive` and `close`, name no header. */
export function namedByConnection(value: string): NamedHeaders {
  if (/^(?:keep-alive|close|)$/i.test(value)) return null
  return new Set(value.split(',').map((option) => trimBlanks(option).toLowerCase()))
}

interface SentHeaders {
  /** Names and values alternating, as the client sent them. */
  raw: readonly string[]
  /** The value of `Connection`; undefined when absent. */
  connection: string | undefined
  /** The length that frames the body; undefined for a chunked body and for none. */
  contentLength: string | undefined
}

interface HeaderRules {
  /** The host of `baseUrl`. */
  host: string
  cookies: CookieSpace
  hopKey: string
}

/**
 * The headers of a request for the child. Those of the client pass as sent, except headers of its connection, claims of an
 * identity or an address, and foreign cookies. The headers that only the front may set follow.
 *
 * @throws {AuthError} `internal_error` for a pass that leaves the claims of the client in place
 */
export function headersForChild(sent: SentHeaders, pass: Pass, { host, cookies, hopKey }: HeaderRules): string[] {
  const { forwarded, spoofedHeaders, principal } = pass
  if (forwarded === null) throw new AuthError('internal_error', { explain: 'guard: no forwarded headers' })
  const named = namedByConnection(sent.connection ?? '')
  const headers = ['host', host]
  for (let index = 0; index + 1 < sent.raw.length; index += 2) {
    const name = sent.raw[index] ?? ''
    const lower = name.toLowerCase()
    if (isOurs(lower) || endsHere(lower, named) || spoofedHeaders.includes(lower)) continue
    const value = sent.raw[index + 1] ?? ''
    const kept = lower === 'cookie' ? cookiesFor(cookies, value) : value
    if (kept !== null) headers.push(name, kept)
  }
  listHeaders(headers, forwarded)
  // The body keeps its framing, whatever `Connection` names.
  if (sent.contentLength !== undefined) headers.push('content-length', sent.contentLength)
  headers.push(hopHeader, hopKey)
  if (principal !== null) headers.push(principalHeader, encodePrincipal(principal))
  return headers
}

function isOurs(name: string): boolean {
  return name === 'host' || name === 'content-length' || name.startsWith('x-latchkey-')
}

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
interface AnswerHeaders {
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
