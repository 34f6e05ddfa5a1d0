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
const plainPath = /^(?:\/[\w\-~!$&'()*+,=:@][\w.\-~!$&'()*+,=:@]*)*\/?$/

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

/**
 * The ways somebody could read an odd path after one decoding: as it stands, and as `new URL` has it, which takes `//host`
 * off the front and resolves dots before anybody decodes. null when it cannot be read at all.
 */
function readingsOf(path: string): string[] | null {
  if (!path.startsWith('/')) return null
  const asUrl = URL.canParse(path, 'http://x') ? new URL(path, 'http://x').pathname : path
  const texts = [path, asUrl].map(decode).filter((text) => text !== null)
  return texts.length < 2 ? null : [path, ...texts.flatMap(readingsOfText)]
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
