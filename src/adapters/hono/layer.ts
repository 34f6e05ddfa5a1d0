import type { Handle, Pass, Verdict } from '../../http/verdict.js'
import { decide, failure } from '../adapter.js'
import { toResponse } from '../fetch-message.js'
import { addAfter, addBefore } from './answer.js'
import type { HonoGate, HonoNext } from './app.js'
import { type HonoContext, type HonoMessage, present } from './message.js'

/** Middleware that asks for a verdict on each request, as `read` shows it. */
export function createLayer(handle: Handle, read: (context: HonoContext) => HonoMessage): HonoGate {
  return async function latchkey(context, next) {
    const message = read(context)
    const verdict = decide(handle, message, null)
    return carryOut(message, 'then' in verdict ? await verdict : verdict, next)
  }
}

/** Returns our response, or undefined once `next` has made the application's. */
async function carryOut(message: HonoMessage, verdict: Verdict, next: HonoNext): Promise<Response | undefined> {
  if (verdict.kind === 'answer') return toResponse(message.method, verdict.response)
  const failed = admit(message, verdict)
  if (failed !== null) return failed
  await next()
  if (verdict.responseHeaders !== null) addAfter(message.context, verdict.responseHeaders)
  return undefined
}

/** Shows the application the request that it may see. Returns a refusal if that fails. */
function admit(message: HonoMessage, pass: Pass): Response | null {
  try {
    present(message, pass)
    if (pass.responseHeaders !== null) addBefore(message.context, pass.responseHeaders)
    return null
  } catch {
    return toResponse(message.method, failure)
  }
}
