import type { HonoGate, HonoHandler, HonoMatch, HonoRouter } from './hono-app.js'

type Row = HonoMatch[0]

interface Found {
  method: string
  path: string
  match: HonoMatch
}

const places = 64

/** What is longer is no use to remember, and would be memory for whoever sends it. */
const longestPath = 256

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
  /**
   * What was found last for a path of that length. To compare two paths takes a tenth of looking a new text up in a table, and
   * many requests ask for the same few paths; where they do not, little is lost.
   */
  private readonly latest: (Found | null)[] = Array.from({ length: places }, () => null)

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
    this.latest.fill(null)
  }

  match(method: string, path: string): HonoMatch {
    const place = path.length % places
    const last = this.latest[place]
    if (last?.path === path && last.method === method) return last.match
    const match = this.lookUp(method, path)
    if (path.length <= longestPath) this.latest[place] = { method, path, match }
    return match
  }

  private lookUp(method: string, path: string): HonoMatch {
    const found = this.router.match(method, path)
    const row = found[0]
    const one = this.known.get(row) ?? this.fuse(row)
    if (one === null) return found
    // Hono tells by its length where parameters are looked for.
    return found.length === 1 ? [one] : [one, found[1]]
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
