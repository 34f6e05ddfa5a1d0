/**
 * A path in the spelling that all readers agree on: `%61` becomes `a` (RFC 3986 §6.2.2.2). Null when readers would differ on
 * it: dot segments, doubled, encoded or backward slashes, control characters, double encoding or invalid escapes.
 *
 * @example normalPath('/api/%61dmin') // '/api/admin'
 */
export function normalPath(path: string): string | null {
  const text = path.replaceAll(/%[\da-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase()
  })
  if (!text.startsWith('/') || /\/\/|\/\.\.?(?:\/|$)|[\\;\p{Cc}]|%(?:25|2F|5C|3B|[01][\dA-F]|7F)/u.test(text))
    return null
  try {
    decodeURIComponent(text)
    return text
  } catch {
    return null
  }
}

const plainPath = /^(?=\/)(?:\/[\w\-~!$&'()*+,=:@][\w.\-~!$&'()*+,=:@]*)*\/?$/

/** Whether every framework and proxy reads the path alike. */
export function isPlainPath(path: string): boolean {
  return plainPath.test(path)
}

/** The part that some parsers read as a host, so that the path begins after it. */
const host = /^[/\\]{2,}[^/\\]*/

/**
 * Node's `url.parse` reads `//user@host` as a host, even where it does not read `//host` as one. Express and connect call it for any URL with
 * a `#`, even in the query, but cut mounts off the URL as it was sent, which may be a different path.
 */
const hostWithUser = /^[/\\]{2,}[^/\\@]+@/

/** Beyond this length only a path that decodes to letters, digits and plain punctuation gets a closer look. */
const longestOddPath = 4_096
const plainText = /^(?:\/[\p{L}\p{Nd}\-_~!$&'()*+,=:@][\p{L}\p{Nd}.\-_~!$&'()*+,=:@]*)*\/?$/u

/**
 * Every reading of an odd path after one decoding: unchanged, without a host, and as `new URL` parses it, which resolves
 * dots before decoding. null when it cannot be read, or when readers disagree, as with a `#`, which no request target may
 * contain (RFC 9112 §3.2).
 */
export function readingsOf(path: string): string[] | null {
  if (!path.startsWith('/') || path.includes('#') || hostWithUser.test(path)) return null
  if (path.length > longestOddPath) return readingsOfLongPath(path)
  // Every reader takes slashes alone for the root, and links with one slash too many are common.
  if (/^[/\\]+$/.test(path)) return ['/']
  const texts = [decode(path), decode(path.replace(host, '')), decodedUrlPath(path)]
  return texts.every((text) => text !== null) ? [path, ...unique(texts).flatMap(readingsOfText)] : null
}

/**
 * Readings of the beginning, which is what prefixes are compared with. null, so guarded, for a path with dot segments, doubled
 * slashes, parameters, blanks or combining marks: no router needs one that long, and normalising it takes milliseconds.
 */
function readingsOfLongPath(path: string): string[] | null {
  const decoded = decode(path)
  if (decoded === null || !plainText.test(decoded)) return null
  const start = decoded.slice(0, longestOddPath)
  return [start, flattened(start)]
}

/** Most readings are the same text, so each one is worked on once. */
function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

/** null also when `new URL` rejects the host, since other parsers may accept it. */
function decodedUrlPath(path: string): string | null {
  try {
    return decodeURIComponent(new URL(path, 'http://x').pathname)
  } catch {
    return null
  }
}

/** Each repair alone and after the ones before it: one reader may remove a segment that another reader's dots leave. */
function readingsOfText(decoded: string): string[] {
  const flat = isPlainAscii(decoded) ? decoded : flattened(decoded)
  const withoutParameters = flat.replaceAll(/;[^/]*/g, '')
  const collapsed = unique([decoded, flat, withoutParameters]).flatMap((text) => [text, text.replaceAll(/\/+/g, '/')])
  return unique(collapsed.flatMap(withPlainDots)).flatMap((text) => [
    text,
    text.replaceAll(/\/\.(?=\/|$)/g, '') || '/',
    resolveDots(text),
  ])
}

/** `new URL` takes `%2e` for a dot, so a reader that decodes first and parses then takes `%252e` for one. */
function withPlainDots(text: string): string[] {
  return [text, text.replaceAll(/%2e/gi, '.')]
}

/** Printable ASCII without a backslash, which `flattened` leaves as it is. */
function isPlainAscii(text: string): boolean {
  return /^[!-[\]-~]*$/.test(text)
}

function flattened(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll('\\', '/')
    .replaceAll(/[\p{C}\p{Z}]/gu, '')
}

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}

/** RFC 3986 §5.2.4 */
function resolveDots(path: string): string {
  const kept: string[] = []
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  return `/${kept.join('/')}`
}
