import { now } from './browser.js'
import { problemOf } from './error.js'
import type { Renewal } from './renew.js'
import type { SessionState } from './session-state.js'
import type { TabMessage } from './tab-messages.js'

/** A request that can be sent again. */
export interface Sending {
  send(): Promise<Response>
  renew(sentAt: number): Promise<Renewal>
  /** The session of the page; left out where it does not matter. */
  session?: SessionState['get']
}

/** One retry after a refresh of another tab, which may have come too early, and one after our own. */
const retries = 2

/**
 * Sends the request. If the access token has expired, it is refreshed and the request is sent again, once after a refresh of
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
    // A request of one user must not be repeated in the name of another.
    const changed = before !== undefined && (message.kind === 'in' || before !== session?.()?.user.id)
    if (message.kind === 'out' || changed) return answer
    if (own) retry = retries - 1
  }
}

async function wantsRefresh(answer: Response): Promise<boolean> {
  const { code } = answer.status === 401 ? await problemOf(answer) : {}
  return code === 'unauthenticated' || code === 'token_expired'
}

/** The failure of the refresh becomes the answer to the call. A 401 would be wrong, because the user is still signed in. */
export function refusal({ status, code, until = 0 }: TabMessage): Response {
  if (!status) throw new TypeError('No response.')
  const seconds = Math.max(1, Math.ceil((until - now()) / 1000))
  const headers = { 'content-type': 'application/problem+json', 'retry-after': String(seconds) }
  return new Response(JSON.stringify({ status, code }), { status, headers })
}
