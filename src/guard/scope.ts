import { remember } from '../lib/remember.js'
import type { Settings } from '../settings.js'

/** What a path means to the guard. */
export type Scope =
  /** Needs a principal. */
  | 'guarded'
  /** Under a guarded prefix, but left open by `publicRoutes`. */
  | 'public'
  /** None of the guard's business. */
  | 'outside'

/** A path that no reader could take for another one. */
const plainPath = /^(?=\/)(?:\/[\w\-~!$&'()*+,=:@][\w.\-~!$&'()*+,=:@]*)*\/?$/

/**
 * Decides which paths the guard stands before.
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

  function covers(path: string): boolean {
    const lower = path.toLowerCase()
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

/** What some take for a host, so that the path begins behind it. */
const host = /^[/\\]{2,}[^/\\]*/

/**
 * `//user@host` is a host to node's `url.parse` even where `//host` is none. Express and connect ask that as soon as a `#`
 * comes, be it in the query; mounts they cut off the text as it was sent, which is then another one.
 */
const hostWithUser = /^[/\\]{2,}[^/\\@]+@/

/**
 * The ways somebody could read an odd path after one decoding: as it stands, without a host, and as `new URL` has it, which
 * resolves dots before anybody decodes. null when it cannot be read at all, or by each in a way of their own, as with a `#`,
 * which stands in no request target (RFC 9112 §3.2).
 */
function readingsOf(path: string): string[] | null {
  if (!path.startsWith('/') || path.includes('#') || hostWithUser.test(path)) return null
  // Of slashes alone nobody makes more than the root, and links with one too many are common.
  if (/^[/\\]+$/.test(path)) return ['/']
  const texts = [decode(path), decode(path.replace(host, '')), decodedUrlPath(path)]
  return texts.every((text) => text !== null) ? [path, ...texts.flatMap(readingsOfText)] : null
}

/** null also where `new URL` finds a host that is none, since others are not so particular. */
function decodedUrlPath(path: string): string | null {
  try {
    return decodeURIComponent(new URL(path, 'http://x').pathname)
  } catch {
    return null
  }
}

/** Each repair alone and with the ones before it: what one reader takes away may be what another's dots lead out of. */
function readingsOfText(decoded: string): string[] {
  const flat = decoded
    .normalize('NFKC')
    .replaceAll('\\', '/')
    .replaceAll(/[\p{C}\p{Z}]/gu, '')
  const withoutParameters = flat.replaceAll(/;[^/]*/g, '')
  return [decoded, flat, withoutParameters].flatMap((text) => {
    const collapsed = text.replaceAll(/\/+/g, '/')
    const withoutDots = collapsed.replaceAll(/\/\.(?=\/|$)/g, '') || '/'
    return [text, collapsed, withoutDots, resolveDots(text), resolveDots(collapsed)]
  })
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
