import type { Handle } from '../http/verdict.js'
import { nearest } from '../settings/field.js'
import { isWithin } from '../settings/paths.js'
import type { Settings } from '../settings.js'

/** What `baseAPIRoutes` misses. */
interface Uncovered {
  /** The prefixes that cover no route. */
  prefixes: readonly string[]
  /** The prefix that was probably meant, or else the one that most routes share. */
  suggestion: string
}

/**
 * Finds guarded prefixes that cover none of the routes. Returns null when each covers one, and when that cannot be told:
 * without routes, or when the first segment of a route is a pattern.
 */
export function findUncovered(routes: readonly string[], guarded: readonly string[]): Uncovered | null {
  const paths = routes.filter((path) => segments(path).length > 0)
  if (paths.length === 0 || !paths.every(beginsPlainly)) return null
  const prefixes = guarded.filter((prefix) => prefix !== '/' && !paths.some((path) => meets(path, prefix)))
  const [first] = prefixes
  if (first === undefined) return null
  const depth = segments(first).length
  const starts = paths
    .map((path) => `/${segments(path).slice(0, depth).join('/')}`)
    .filter((start) => !isPattern(start))
  return { prefixes, suggestion: nearest(first, starts) ?? mostCommon(starts) ?? `/${segments(paths[0] ?? '')[0]}` }
}

function beginsPlainly(path: string): boolean {
  return path.startsWith('/') && !isPattern(segments(path)[0] ?? '')
}

function mostCommon(texts: readonly string[]): string | null {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  const [best] = [...counts].sort(([, left], [, right]) => right - left)
  return best?.[0] ?? null
}

/** Whether some path below the prefix could match the pattern. A part of a pattern that is no plain text may stand for anything. */
export function meets(pattern: string, prefix: string): boolean {
  const given = segments(pattern)
  for (const [index, wanted] of segments(prefix).entries()) {
    const found = given[index]
    if (found === undefined) return false
    if (isPattern(found)) return true
    if (found !== wanted) return false
  }
  return true
}

function isPattern(text: string): boolean {
  return /[:*{}()?+]/.test(text)
}

/** In the one spelling that the guard compares by. */
function segments(path: string): string[] {
  const parts = path.split('/').filter((segment) => segment !== '')
  return parts.map((segment) => decode(segment).toLowerCase())
}

function decode(segment: string): string {
  return segment.replace(/%[0-7][0-9a-f]/gi, (encoded) => String.fromCharCode(Number.parseInt(encoded.slice(1), 16)))
}

/**
 * Logs at the first request when a prefix of `baseAPIRoutes` covers no route of the application. Most likely it is a typing
 * error, and routes that should be guarded are open. By the first request the application has added all its routes.
 *
 * @param atRoot our own paths outside `basePath`
 * @param routes lists the paths of the application's routes; null when they are not all known
 */
export function watchRoutes(
  { baseAPIRoutes, basePath, logger }: Pick<Settings, 'baseAPIRoutes' | 'basePath' | 'logger'>,
  atRoot: readonly string[],
  routes: () => readonly string[] | null,
  handle: Handle,
): Handle {
  let asked = false

  /** The request must not fail when a framework keeps its routes in a shape that we do not know. */
  function listRoutes(): readonly string[] {
    try {
      return routes() ?? []
    } catch {
      return []
    }
  }

  function warnOfUncovered(): void {
    const listed = listRoutes().filter((path) => !isWithin(path, basePath) && !atRoot.includes(path))
    const found = findUncovered(listed, baseAPIRoutes)
    if (found === null) return
    const { prefixes, suggestion } = found
    logger.warn(
      { event: 'routes_unguarded', prefixes, suggestion },
      `baseAPIRoutes covers no route with ${prefixes.join(' and ')}, so the guard may protect less than you mean. The nearest prefix with routes is ${suggestion}.`,
    )
  }

  return (request) => {
    if (!asked) {
      asked = true
      warnOfUncovered()
    }
    return handle(request)
  }
}
