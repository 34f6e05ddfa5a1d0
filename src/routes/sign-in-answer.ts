import type { SignInResult } from '../flows/sign-in.js'
import type { HttpResponse } from '../http/message.js'
import { json } from '../http/problem.js'
import type { RouteContext } from '../http/route.js'
import { signedInAnswer } from './session-answer.js'

/** What every way into an existing account answers with: a session, or what the second step needs. */
export async function signInAnswer(context: RouteContext, result: SignInResult): Promise<HttpResponse> {
  if (result.kind === 'session') return signedInAnswer(context, 200, result.issued)
  const { challenge, methods } = result
  return json(200, { status: 'two_factor_required', challenge, methods })
}
