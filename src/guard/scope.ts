import { isPlainPath, readingsOf } from '../lib/normal-path.js'
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

export type ScopeOf = (path: string) => Scope

/**
 * Decides which paths are guarded.
 *
 * Frameworks and proxies read odd paths differently, so an odd one is guarded if any reading of it falls under a
 * guarded prefix (the guard may guard more than the router serves, never less), and `publicRoutes` open plain ones only.
 */
export function createScope(settings: Pick<Settings, 'baseAPIRoutes' | 'publicRoutes'>): ScopeOf {
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
    if (isPlainPath(path)) {
      if (!covers(path)) return 'outside'
      return isPublic(path) ? 'public' : 'guarded'
    }
    const readings = readingsOf(path)
    return readings === null || readings.some(covers) ? 'guarded' : 'outside'
  })
}
