import type { Handle, Pass } from '../http/verdict.js'
import { decide } from './adapter.js'
import { saysAll } from './hono-answer.js'
import { type FusableApp, type HonoApp, type HonoGate, type HonoHandler, type HonoNext, isFusable } from './hono-app.js'
import { createHeaderFinder, type FindsHeader } from './hono-headers.js'
import { admit, inTurn } from './hono-layer.js'
import type { HonoContext, HonoMessage } from './hono-message.js'
import { FusingRouter } from './hono-router.js'

/** Who judges a request, and what they are shown of it. */
interface Judging {
  handle: Handle
  read(context: HonoContext): HonoMessage
}

/**
 * Hono runs what is in a row by promises, and a single handler without any. So where a request meets nothing but the layer
 * and one handler, its router answers with the two as one.
 *
 * @param layer what the application has as its first middleware
 */
export function fuse(app: HonoApp, layer: HonoGate, judging: Judging): void {
  if (!isFusable(app)) return
  const isFound = createHeaderFinder()
  app.router = new FusingRouter(app, layer, (handler) => {
    const judge = createJudge(app, judging, handler, isFound)
    // Nothing else stands here, so that V8 compiles the handler into Hono as it does without a guard.
    return function latchkey(context, next) {
      const answer = judge(context, next)
      if (answer !== null) return answer
      return handler(context, restOf(context, next)) ?? (context.finalized ? context.res : undefined)
    }
  })
}

/** null: the request may pass, is what the handler is to see, and the handler's answer is all that is missing. */
type Judge = (context: HonoContext, next: HonoNext) => Response | Promise<Response | undefined> | null

/** One that runs the handler itself where there is something to wait for before, or to be done behind it. */
function createJudge(app: FusableApp, { handle, read }: Judging, handler: HonoHandler, isFound: FindsHeader): Judge {
  return (context, next) => {
    const message = read(context)
    const verdict = decide(handle, message, null)
    if ('then' in verdict) {
      return verdict.then((settled) => inTurn(app, { message, verdict: settled }, handler, restOf(context, next)))
    }
    if (verdict.kind === 'answer' || !isSaidBefore(context, verdict)) {
      return inTurn(app, { message, verdict }, handler, restOf(context, next))
    }
    return admit(message, verdict, isFound)
  }
}

/** In a row, an answer that is there already stays. */
function restOf(context: HonoContext, next: HonoNext): HonoNext {
  return async () => (context.finalized ? undefined : next())
}

/** Nothing is to be added to the answer once it is there. */
function isSaidBefore(context: HonoContext, { responseHeaders }: Pass): boolean {
  return responseHeaders === null || saysAll(context, responseHeaders)
}
