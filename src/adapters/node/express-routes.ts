import { memberOf } from '../../lib/members.js'

/**
 * The paths of the routes of an Express router and of the routers mounted in it. A handler mounted at a path counts as a
 * route. Returns null when one of them is no plain text: Express 4 does not keep where a router is mounted.
 */
export function expressRoutes(router: unknown, mount = ''): string[] | null {
  const stack = memberOf(router, 'stack')
  if (!Array.isArray(stack)) return null
  const paths: string[] = []
  for (const layer of stack) {
    const found = pathsOf(layer, mount)
    if (found === null) return null
    paths.push(...found)
  }
  return paths
}

function pathsOf(layer: unknown, mount: string): string[] | null {
  const route = memberOf(layer, 'route')
  const path = route === undefined ? mountOf(layer) : memberOf(route, 'path')
  if (typeof path !== 'string') return null
  const whole = `${mount}${path}`.replace(/\/+/g, '/')
  if (route !== undefined) return [whole]
  const handler = memberOf(layer, 'handle')
  if (Array.isArray(memberOf(handler, 'stack'))) return expressRoutes(handler, whole)
  // Middleware for everything, such as a body parser.
  return path === '/' ? [] : [whole]
}

function mountOf(layer: unknown): unknown {
  const isRoot = memberOf(memberOf(layer, 'regexp'), 'fast_slash') === true
  return memberOf(layer, 'rawPath') ?? (isRoot ? '/' : undefined)
}
