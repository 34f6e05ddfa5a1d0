import type { SettingsFault } from '../../errors.js'
import type { Mounting } from '../adapter.js'
import type { HonoRoute } from './app.js'

/** No route may be there yet that could answer a request which is ours to judge: a guarded path or one of our own. */
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
 * To an application with a `basePath` of its own no request comes from outside of that: our routes are to lie below it, and
 * a prefix elsewhere would guard nothing.
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

/** Whether some path below the prefix could match the pattern; what is no plain text in a pattern may stand for anything. */
function meets(pattern: string, prefix: string): boolean {
  const given = segments(pattern)
  for (const [index, wanted] of segments(prefix).entries()) {
    const found = given[index]
    if (found === undefined) return false
    if (/[:*{}]/.test(found)) return true
    if (found !== wanted) return false
  }
  return true
}

/** In the one spelling that the guard compares by. */
function segments(path: string): string[] {
  const parts = path.split('/').filter((segment) => segment !== '')
  return parts.map((segment) => decode(segment).toLowerCase())
}

function decode(segment: string): string {
  return segment.replace(/%[0-7][0-9a-f]/gi, (encoded) => String.fromCharCode(Number.parseInt(encoded.slice(1), 16)))
}
