import type { Handle } from '../http/verdict.js'
import { isWithin } from '../settings/paths.js'
import type { Settings } from '../settings.js'
import { findUncovered } from './route-coverage.js'

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
