import { cookieSuffix } from '../../http/cookies.js'
import { trimBlanks } from '../../lib/http-blanks.js'

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
export const controls = /[\0-\x08\x0a-\x1f\x7f]/
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
