import { toAuthError } from '../../http/faults.js'
import type { HttpResponse } from '../../http/message.js'
import { redirect } from '../../http/problem.js'
import type { RouteContext } from '../../http/route.js'
import { landingUrl } from './landing.js'

/** A refusal redirects a navigating browser too. Only an unknown provider answers 404. */
export async function navigating(
  context: RouteContext,
  { provider, returnTo }: { provider: string; returnTo: string | null },
  answer: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await answer()
  } catch (error) {
    const fault = toAuthError(error)
    if (fault.code === 'not_found') throw fault
    context.report(fault)
    return redirect(302, landingUrl(context, provider, { to: 'failure', returnTo, code: fault.code }))
  }
}
