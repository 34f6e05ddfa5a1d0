import type { Handle, Pass, Verdict } from '../http/verdict.js'
import { decide, failure } from './adapter.js'
import { toResponse } from './fetch-message.js'
import { addAfter, addBefore } from './hono-answer.js'
import type { FusableApp, HonoGate, HonoHandler } from './hono-app.js'
import { askForHeader, type FindsHeader } from './hono-headers.js'
import { type HonoContext, type HonoMessage, present } from './hono-message.js'

/** Middleware that asks for a verdict on each request, as `read` shows it. */
export function createLayer(handle: Handle, read: (context: HonoContext) => HonoMessage): HonoGate {
  return async function latchkey(context, next) {
    const message = read(context)
    const verdict = decide(handle, message, null)
    return carryOut({ context, message, verdict: 'then' in verdict ? await verdict : verdict }, next)
  }
}

/** A request of Hono, and what the guard was shown of it. */
interface Shown {
  context: HonoContext
  message: HonoMessage
}

/** The two, and what is to become of the request. */
interface Judged extends Shown {
  verdict: Verdict
}

/** Our answer; undefined where `next` has made the application's. */
async function carryOut(judged: Judged, next: () => Promise<void>): Promise<Response | undefined> {
  const { context, verdict } = judged
  if (verdict.kind === 'answer') return toResponse(context.req.raw.method, verdict.response)
  const failed = admit(judged, verdict)
  if (failed !== null) return failed
  await next()
  if (verdict.responseHeaders !== null) addAfter(context, verdict.responseHeaders)
  return undefined
}

/** Shows the application what it may see. An answer where that cannot be done: closed. */
export function admit({ context, message }: Shown, pass: Pass, isFound: FindsHeader = askForHeader): Response | null {
  try {
    present(context, pass, message, isFound)
    if (pass.responseHeaders !== null) addBefore(context, pass.responseHeaders)
    return null
  } catch {
    return toResponse(context.req.raw.method, failure)
  }
}

/**
 * What Hono does with two in a row: an error of the handler has its answer before the layer adds headers to that. It is
 * answered by the application that `init` was given.
 */
export async function inTurn(
  app: FusableApp,
  judged: Judged,
  handler: HonoHandler,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  const { context } = judged
  const answer = await carryOut(judged, async () => {
    try {
      const response = await handler(context, next)
      if (response && !context.finalized) context.res = response
    } catch (error) {
      if (!(error instanceof Error)) throw error
      context.error = error
      const response = await app.errorHandler(error, context)
      if (response) context.res = response
    }
  })
  return answer ?? (context.finalized ? context.res : undefined)
}
