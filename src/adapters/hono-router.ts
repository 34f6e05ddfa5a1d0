import { createLatest, keepable } from '../lib/latest.js'
import type { FusableApp, HonoGate, HonoHandler, HonoMatch, HonoRouter } from './hono-app.js'

type Row = HonoMatch[0]

/** What the router said of a method and a path. */
interface Said {
  /** The path. */
  text: string
  method: string
  match: HonoMatch
}

/**
 * The application's own router, which answers with the layer and one handler as a single one where a request meets nothing
 * else; a longer row, or what looks like neither, stays as it is.
 *
 * A class, since V8 keeps a literal with an accessor in it as a dictionary, and each request asks for `match`.
 */
export class FusingRouter implements HonoRouter {
  private readonly router: HonoRouter
  private readonly layer: HonoGate
  private readonly asOne: (handler: HonoHandler) => HonoHandler
  /** Of all applications that were made of this one and share its router. */
  private readonly routes: FusableApp['routes']
  /** How many there were when something was last remembered: some routers take more after their first request. */
  private routeCount = 0
  /** Routers that look a route up in a table answer with the same row each time. */
  private readonly known = new WeakMap<Row, Row>()
  private readonly latest = createLatest<Said>()

  /** @param layer what the application has as its first middleware */
  constructor({ router, routes }: FusableApp, layer: HonoGate, asOne: (handler: HonoHandler) => HonoHandler) {
    this.router = router
    this.routes = routes
    this.layer = layer
    this.asOne = asOne
  }

  get name(): string {
    return this.router.name
  }

  add(...route: Parameters<HonoRouter['add']>): void {
    this.router.add(...route)
  }

  match(method: string, path: string): HonoMatch {
    if (this.routes.length !== this.routeCount) this.forget()
    const said = this.latest.get(path)
    if (said?.method === method) return said.match
    const text = keepable(path)
    if (text === null) return this.lookUp(method, path)
    const match = this.lookUp(method, text)
    this.latest.set({ text, method, match })
    return match
  }

  private forget(): void {
    this.routeCount = this.routes.length
    this.latest.clear()
  }

  private lookUp(method: string, path: string): HonoMatch {
    const found = this.router.match(method, path)
    const one = this.fuse(found[0])
    if (one === null) return found
    // `mount` of Hono tells by its length where parameters are.
    return found.length === 1 ? [one] : [one, found[1]]
  }

  /** null for a row that is to stay. Some routers write later routes into rows that they have given before. */
  private fuse(row: Row): Row | null {
    const [first, second] = row
    if (row.length !== 2 || first?.[0][0] !== this.layer || second === undefined) return null
    const before = this.known.get(row)
    if (before !== undefined) return before
    const [[handler, route], parameters] = second
    const one: Row = [[[this.asOne(handler), route], parameters]]
    this.known.set(row, one)
    return one
  }
}
