import type { SettingsFault } from '../../errors.js'
import type { Mounting } from '../adapter.js'
import { meets } from '../route-coverage.js'
import type { HonoRoute } from './app.js'

/** Refuses routes that were added before and could answer a guarded path or one of our own. */
export function lateFault(routes: readonly HonoRoute[], { basePath, guarded }: Mounting): SettingsFault | null {
  const found = routes.find(({ path }) => [basePath, ...guarded].some((prefix) => meets(path, prefix)))
  if (!found) return null
  const { method, path } = found
  return {
    setting: 'app',
    message: `${method} ${path} was there before: move init above it, or nothing would guard it`,
  }
}

/**
 * An application with a `basePath` of its own gets only requests below it. So our routes must lie below it, too, and a guarded
 * prefix elsewhere would guard nothing.
 */
export function baseFaults(layer: string, { basePath, guarded }: Mounting): SettingsFault[] {
  const base = layer.slice(0, -2)
  const where = `must lie below ${base}, where the application stands, such as ${base}`
  const ours = `${basePath}/`.startsWith(`${base}/`)
  const reached = guarded.every((prefix) => meets(layer, prefix))
  return [
    ...(ours ? [] : [{ setting: 'basePath', message: `${where}/auth` }]),
    ...(reached ? [] : [{ setting: 'baseAPIRoutes', message: `${where}/api` }]),
  ]
}

/** The paths that handlers answer. Middleware for a whole prefix is no route: Hono keeps it as `ALL /prefix/*`. */
export function handledPaths(routes: readonly HonoRoute[]): string[] {
  return routes.filter(({ method, path }) => method !== 'ALL' || !path.endsWith('*')).map(({ path }) => path)
}
