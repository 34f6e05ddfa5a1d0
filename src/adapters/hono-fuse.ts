import type { Handle, Pass } from '../http/verdict.js'
import { decide } from './adapter.js'
import { saysAll } from './hono-answer.js'
import {
  type FusableApp,
  type HonoApp,
  type HonoGate,
  type HonoHandler,
  type HonoMatch,
  isFusable,
} from './hono-app.js'
import { createHeaderFinder, type FindsHeader } from './hono-headers.js'
import { admit, inTurn } from './hono-layer.js'
import type { HonoContext, HonoMessage } from './hono-message.js'

/** Who judges a request, and what they are shown of it. */
interface Judging {
  handle: Handle
  read(context: HonoContext): HonoMessage
}

/**
 * Hono runs what is in a row by promises, and a single handler without any. So where a request meets nothing but the layer
 * and one handler, its router answers with the two as one; a longer row, or what looks like neither, stays as it is.
 *
 * @param layer what the application has as its first middleware
 */
export function fuse(app: HonoApp, layer: HonoGate, judging: Judging): void {
  if (!isFusable(app)) return
  const { router } = app
  // Routers that look a route up in a table answer with the same list each time.
  const known = new WeakMap<HonoMatch[0], HonoMatch[0]>()
  const isFound = createHeaderFinder()
  app.router = {
    get name() {
      return router.name
    },
    add: (...route) => router.add(...route),
    match(method, path) {
      const found = router.match(method, path)
      const row = found[0]
      const first = row[0]
      const second = row[1]
      if (row.length !== 2 || first?.[0][0] !== layer || second === undefined) return found
      let one = known.get(row)
      if (one === undefined) {
        const [[handler, route], parameters] = second
        one = [[[fused(app, judging, handler, isFound), route], parameters]]
        known.set(row, one)
      }
      return [one, found[1]]
    },
  }
}

function fused(app: FusableApp, { handle, read }: Judging, handler: HonoHandler, isFound: FindsHeader): HonoHandler {
  return function latchkey(context, next) {
    // In a row, an answer that is there already stays.
    const rest = async () => (context.finalized ? undefined : next())
    const shown = { context, message: read(context) }
    const verdict = decide(handle, shown.message, null)
    if ('then' in verdict) return verdict.then((settled) => inTurn(app, { ...shown, verdict: settled }, handler, rest))
    if (verdict.kind === 'answer' || !isSaidBefore(context, verdict)) {
      return inTurn(app, { ...shown, verdict }, handler, rest)
    }
    return admit(shown, verdict, isFound) ?? handler(context, rest) ?? (context.finalized ? context.res : undefined)
  }
}

/** Nothing is to be added to the answer once it is there. */
function isSaidBefore(context: HonoContext, { responseHeaders }: Pass): boolean {
  return responseHeaders === null || saysAll(context, responseHeaders)
}
