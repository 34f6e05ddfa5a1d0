import type { HonoGate, HonoHandler, HonoMatch, HonoRouter } from './hono-app.js'

type Row = HonoMatch[0]

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
  /** Routers that look a route up in a table answer with the same row each time. */
  private readonly known = new WeakMap<Row, Row>()
  /** The last row that was found, and what it became: a few requests in a row ask for the same one. */
  private latest: Row | null = null
  private latestAsOne: Row = []

  /** @param layer what the application has as its first middleware */
  constructor(router: HonoRouter, layer: HonoGate, asOne: (handler: HonoHandler) => HonoHandler) {
    this.router = router
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
    const found = this.router.match(method, path)
    const row = found[0]
    if (row === this.latest) return [this.latestAsOne, found[1]]
    const one = this.known.get(row) ?? this.fuse(row)
    if (one === null) return found
    this.latest = row
    this.latestAsOne = one
    return [one, found[1]]
  }

  /** null for a row that is to stay. */
  private fuse(row: Row): Row | null {
    const [first, second, ...others] = row
    if (first?.[0][0] !== this.layer || second === undefined || others.length > 0) return null
    const [[handler, route], parameters] = second
    const one: Row = [[[this.asOne(handler), route], parameters]]
    this.known.set(row, one)
    return one
  }
}
