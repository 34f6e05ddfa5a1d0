import { now } from './browser.js'
import { problemOf } from './error.js'
import type { Renewal } from './renew.js'
import type { SessionState } from './session-state.js'
import type { TabMessage } from './tab-messages.js'

/** A request that may be sent again. */
export interface Sending {
  send(): Promise<Response>
  renew(sentAt: number): Promise<Renewal>
  /** Whose page sends it; left out where that does not matter. */
  session?: SessionState['get']
}

/** One retry after a refresh of another tab, which may have been one too early, and one after our own. */
const retries = 2

/**
 * Sends; and when the access token turns out to have expired, has it refreshed and sends again, once after a refresh of
 * its own.
 *
 * @throws {TypeError} like `fetch`, when the server cannot be reached
 */
export async function sendFresh({ send, renew, session }: Sending): Promise<Response> {
  const before = session?.()?.user.id
  for (let retry = 0; ; retry += 1) {
    const sentAt = now()
    const answer = await send()
    if (retry === retries || !(await wantsRefresh(answer))) return answer

    const { message, own } = await renew(sentAt)
    if (message.kind === 'wait') return refusal(message)
    // What one user meant to do is not done in another's name.
    const changed = before !== undefined && (message.kind === 'in' || before !== session?.()?.user.id)
    if (message.kind === 'out' || changed) return answer
    if (own) retry = retries - 1
  }
}

async function wantsRefresh(answer: Response): Promise<boolean> {
  const { code } = answer.status === 401 ? await problemOf(answer) : {}
  return code === 'unauthenticated' || code === 'token_expired'
}

/** What the refresh met is what the call met: nobody is signed out, so a 401 would say too much. */
export function refusal({ status, code, until = 0 }: TabMessage): Response {
  if (!status) throw new TypeError('No answer came.')
  const seconds = Math.max(1, Math.ceil((until - now()) / 1000))
  const headers = { 'content-type': 'application/problem+json', 'retry-after': String(seconds) }
  return new Response(JSON.stringify({ status, code }), { status, headers })
}
