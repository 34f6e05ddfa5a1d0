import type { Handle, Verdict } from '../http/verdict.js'
import { decide } from './adapter.js'
import { admit, carryOut } from './hono-layer.js'
import { type HonoContext, HonoMessage } from './hono-message.js'
import type { HonoApp, HonoGate } from './hono-routes.js'

/** What answers, or calls `next`. */
type HonoHandler = (
  context: HonoContext,
  next: () => Promise<void>,
) => Response | undefined | Promise<Response | undefined>

/** Whose `match` each request is sent by. */
interface HonoRouter {
  readonly name: string
  add(method: string, path: string, handler: unknown): void
  match(method: string, path: string): HonoMatch
}

/** The handlers in a row, each with its route and its parameters; then what those point into, if they do. */
type HonoMatch = [row: [[handler: HonoHandler, route: unknown], parameters: unknown][], shared?: unknown]

/** What Hono does not promise to have, so that it is looked for first. */
interface FusableApp extends HonoApp {
  router: HonoRouter
  errorHandler(error: Error, context: HonoContext): Response | Promise<Response>
}

/**
 * Hono runs what is in a row by promises, and a single handler without any. So where a request meets nothing but the layer
 * and one handler, its router answers with the two as one; a longer row, or what looks like neither, stays as it is.
 *
 * @param layer what the application has as its first middleware
 */
export function fuse(app: HonoApp, layer: HonoGate, handle: Handle): void {
  if (!isFusable(app)) return
  const { router } = app
  // Routers that look a route up in a table answer with the same list each time.
  const known = new WeakMap<HonoMatch[0], HonoMatch[0]>()
  app.router = {
    get name() {
      return router.name
    },
    add: (...route) => router.add(...route),
    match(method, path) {
      const found = router.match(method, path)
      const row = found[0]
      const [first, second] = row
      if (row.length !== 2 || first?.[0][0] !== layer || second === undefined) return found
      let one = known.get(row)
      if (one === undefined) {
        const [[handler, route], parameters] = second
        one = [[[fused(app, handle, handler), route], parameters]]
        known.set(row, one)
      }
      return [one, found[1]]
    },
  }
}

function isFusable(app: HonoApp): app is FusableApp {
  if (!('router' in app && 'errorHandler' in app && app.router instanceof Object)) return false
  return typeof Reflect.get(app.router, 'match') === 'function' && typeof app.errorHandler === 'function'
}

function fused(app: FusableApp, handle: Handle, handler: HonoHandler): HonoHandler {
  return function latchkey(context, next) {
    const judged = decide(handle, new HonoMessage(context, null), null)
    if ('then' in judged) return judged.then((verdict) => inTurn(app, context, verdict, handler, next))
    if (judged.kind === 'answer' || judged.responseHeaders !== null) return inTurn(app, context, judged, handler, next)
    return admit(context, judged) ?? handler(context, next)
  }
}

/** What Hono does with two in a row: an error of the handler has its answer before the layer adds headers to that. */
async function inTurn(
  app: FusableApp,
  context: HonoContext,
  verdict: Verdict,
  handler: HonoHandler,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  const answer = await carryOut(context, verdict, async () => {
    try {
      const response = await handler(context, next)
      if (response && !context.finalized) context.res = response
    } catch (error) {
      if (!(error instanceof Error)) throw error
      context.error = error
      context.res = await app.errorHandler(error, context)
    }
  })
  return answer ?? (context.finalized ? context.res : undefined)
}
