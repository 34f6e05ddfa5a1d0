import { remember } from '../lib/remember.js'
import type { Settings } from '../settings.js'

/** What a path means to the guard. */
export type Scope =
  /** Needs a principal. */
  | 'guarded'
  /** Under a guarded prefix, but left open by `publicRoutes`. */
  | 'public'
  /** Not guarded. */
  | 'outside'

/** A path that every framework and proxy reads alike. */
const plainPath = /^(?=\/)(?:\/[\w\-~!$&'()*+,=:@][\w.\-~!$&'()*+,=:@]*)*\/?$/

/**
 * Decides which paths are guarded.
 *
 * Frameworks and proxies read odd paths differently, so an odd one is guarded if any reading of it falls under a
 * guarded prefix (the guard may guard more than the router serves, never less), and `publicRoutes` open plain ones only.
 */
export function createScope(settings: Pick<Settings, 'baseAPIRoutes' | 'publicRoutes'>): (path: string) => Scope {
  const prefixes = settings.baseAPIRoutes.map((prefix) => (prefix === '/' ? '' : prefix.toLowerCase()))
  const publicPaths = new Set(settings.publicRoutes.filter((route) => !route.endsWith('/*')))
  const publicPrefixes = settings.publicRoutes
    .filter((route) => route.endsWith('/*'))
    .map((route) => route.slice(0, -1))

  const longestPrefix = Math.max(0, ...prefixes.map((prefix) => prefix.length))

  function covers(path: string): boolean {
    // Lower case never makes a text shorter, so this much holds the longest prefix and the slash after it.
    const lower = path.slice(0, longestPrefix + 1).toLowerCase()
    return prefixes.some(
      (prefix) => lower.startsWith(prefix) && (lower.length === prefix.length || lower[prefix.length] === '/'),
    )
  }

  function isPublic(path: string): boolean {
    return publicPaths.has(path) || publicPrefixes.some((prefix) => path.startsWith(prefix))
  }

  return remember((path) => {
    if (plainPath.test(path)) {
      if (!covers(path)) return 'outside'
      return isPublic(path) ? 'public' : 'guarded'
    }
    const readings = readingsOf(path)
    return readings === null || readings.some(covers) ? 'guarded' : 'outside'
  })
}

/** The part that some parsers read as a host, so that the path begins after it. */
const host = /^[/\\]{2,}[^/\\]*/

/**
 * Node's `url.parse` reads `//user@host` as a host even where `//host` is none. Express and connect call it for any URL with
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
function readingsOf(path: string): string[] | null {
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
  return unique(collapsed).flatMap((text) => [text, text.replaceAll(/\/\.(?=\/|$)/g, '') || '/', resolveDots(text)])
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
