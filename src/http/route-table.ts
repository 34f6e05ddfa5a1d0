import type { Route } from './route.js'

/** The routes of a path. */
export interface RouteMatch {
  /** By method, as sent. */
  byMethod: ReadonlyMap<string, Route>
  params: Readonly<Record<string, string>>
}

interface Pattern {
  segments: readonly string[]
  byMethod: Map<string, Route>
}

/** A `:name` segment is base64url, with dots for assets. Any other segment matches no route. */
export const parameterValue = /^(?=.{1,128}$)[\w-]+(?:\.[\w-]+)*$/

/**
 * Finds routes by the raw path below `basePath`, character by character. Paths with `//`, `/./`, `%2f`, another case or a
 * trailing slash are different paths and match nothing.
 */
export function createRouteTable(routes: readonly Route[]): (path: string) => RouteMatch | null {
  const exact = new Map<string, Map<string, Route>>()
  const patterns: Pattern[] = []

  for (const route of routes) {
    for (const path of [route.path, ...(route.aliases ?? [])]) {
      if (path.includes('/:')) patternFor(patterns, path).byMethod.set(route.method, route)
      else methodsFor(exact, path).set(route.method, route)
    }
  }

  return (path) => {
    const byMethod = exact.get(path)
    if (byMethod) return { byMethod, params: {} }
    if (patterns.length === 0 || path.length > 256) return null
    const segments = path.split('/')
    for (const pattern of patterns) {
      const params = matchSegments(pattern.segments, segments)
      if (params) return { byMethod: pattern.byMethod, params }
    }
    return null
  }
}

/** A path with the values of its `:name` segments, which are safe in an address as they are. */
export function filledPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:(\w+)/g, (whole, name: string) => params[name] ?? whole)
}

function methodsFor(exact: Map<string, Map<string, Route>>, path: string): Map<string, Route> {
  const known = exact.get(path) ?? new Map<string, Route>()
  exact.set(path, known)
  return known
}

function patternFor(patterns: Pattern[], path: string): Pattern {
  const known = patterns.find((pattern) => pattern.segments.join('/') === path)
  if (known) return known
  const pattern: Pattern = { segments: path.split('/'), byMethod: new Map() }
  patterns.push(pattern)
  return pattern
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [index, expected] of pattern.entries()) {
    const actual = segments[index] ?? ''
    if (!expected.startsWith(':')) {
      if (actual !== expected) return null
    } else if (parameterValue.test(actual)) params[expected.slice(1)] = actual
    else return null
  }
  return params
}

/** The route of that method; null: none. */
export function routeFor({ byMethod }: RouteMatch, method: string): Route | null {
  const route = byMethod.get(method === 'HEAD' ? 'GET' : method) ?? null
  return method === 'HEAD' && route?.changes ? null : route
}

/** The methods of a path, for the header `Allow`. */
export function allowed({ byMethod }: RouteMatch): string {
  const methods = [...byMethod.keys()]
  const read = byMethod.get('GET')
  return [...methods, ...(read && !read.changes ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}
