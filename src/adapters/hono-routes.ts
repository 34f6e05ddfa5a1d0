import type { Mounting } from './adapter.js'
import type { HonoContext } from './hono-message.js'

/** The part of a Hono application that we use. */
export interface HonoApp {
  readonly routes: HonoRoute[]
  use(middleware: HonoGate): unknown
  fire(): void
}

/** Middleware of Hono for one route. */
export type HonoGate = (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>

/** What Hono keeps of a route. */
export interface HonoRoute {
  method: string
  /** `/api/:id{[0-9]+}`, `/files/*`; middleware for everything has `/*`. */
  path: string
}

/** The first of these routes that could answer a request which is ours to judge: a guarded path or one of our own. */
export function coveredRoute(routes: readonly HonoRoute[], { basePath, guarded }: Mounting): HonoRoute | null {
  return routes.find(({ path }) => [basePath, ...guarded].some((prefix) => meets(path, prefix))) ?? null
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
