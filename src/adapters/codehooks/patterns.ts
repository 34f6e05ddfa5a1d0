import { memberOf } from '../../lib/members.js'
import type { Mounting } from '../adapter.js'

/** Whether the pattern has at least one further segment. The guard's own pattern is `/api/*`. */
export function isStrictlyBelow(pattern: string, prefix: string): boolean {
  const base = prefix === '/' ? '/' : `${prefix}/`
  return pattern.toLowerCase().startsWith(base) && /^[^*/]/.test(pattern.slice(base.length))
}

/** The platform's rules: case does not matter, `*` is anything, `:name` is one segment, a slash at the end is optional. */
export function toRegex(pattern: string): RegExp {
  const source = pattern
    .replace(/\/$/, '')
    .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:\w+/g, '[^/]+')
    .replaceAll('*', '.*')
  return new RegExp(`^${source}/?$`, 'i')
}

/** The paths of the application's routes, which it keeps as `GET /path`; of a regular expression what it keeps as JSON. */
export function routesOf(app: unknown): string[] {
  const keys = Object.keys(Object(memberOf(app, 'routes')))
  return keys.map((key) => key.replace(/^\S+ /, ''))
}

/** Of our own routes, which every visitor may ask. */
export function openPatterns({ basePath, atRoot = [] }: Mounting): string[] {
  return [...patterns(basePath), ...atRoot]
}

/** `/api/*` does not match `/api`. */
export function patterns(prefix: string): string[] {
  return prefix === '/' ? ['/', '/*'] : [prefix, `${prefix}/*`]
}
