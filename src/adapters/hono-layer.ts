import type { Handle, Pass, Verdict } from '../http/verdict.js'
import { decide, failure } from './adapter.js'
import { toResponse } from './fetch-message.js'
import { addAfter, addBefore } from './hono-answer.js'
import type { FusableApp, HonoGate, HonoHandler, HonoNext } from './hono-app.js'
import { askForHeader, type FindsHeader } from './hono-headers.js'
import { type HonoContext, type HonoMessage, present } from './hono-message.js'

/** Middleware that asks for a verdict on each request, as `read` shows it. */
export function createLayer(handle: Handle, read: (context: HonoContext) => HonoMessage): HonoGate {
  return async function latchkey(context, next) {
    const message = read(context)
    const verdict = decide(handle, message, null)
    return carryOut({ message, verdict: 'then' in verdict ? await verdict : verdict }, next)
  }
}

/** What the guard was shown of a request, and what is to become of that. */
interface Judged {
  message: HonoMessage
  verdict: Verdict
}

/** Our answer; undefined where `next` has made the application's. */
async function carryOut({ message, verdict }: Judged, next: HonoNext): Promise<Response | undefined> {
  if (verdict.kind === 'answer') return toResponse(message.method, verdict.response)
  const failed = admit(message, verdict)
  if (failed !== null) return failed
  await next()
  if (verdict.responseHeaders !== null) addAfter(message.context, verdict.responseHeaders)
  return undefined
}

/** Shows the application what it may see. An answer where that cannot be done: closed. */
export function admit(message: HonoMessage, pass: Pass, isFound: FindsHeader = askForHeader): Response | null {
  try {
    present(message, pass, isFound)
    if (pass.responseHeaders !== null) addBefore(message.context, pass.responseHeaders)
    return null
  } catch {
    return toResponse(message.method, failure)
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
  next: HonoNext,
): Promise<Response | undefined> {
  const { context } = judged.message
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
