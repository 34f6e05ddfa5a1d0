import { AuthError } from '../errors.js'
import { createRecent } from '../lib/recent.js'
import { parseOrigin } from '../lib/url.js'
import type { Settings } from '../settings.js'
import { type HttpRequest, singleHeader } from './message.js'
import { type OriginFacts, originFault } from './origin.js'

type Request = Pick<HttpRequest, 'method' | 'headers' | 'rawHeaders'>

/** The origin rule of one application, which logs the origins that it refuses. */
export interface OriginCheck {
  /** The refusal of a request that another site may have caused, or null. In development it says how to mend it. */
  fault(request: Request, facts: OriginFacts): AuthError | null
  /** Logs the origin of a preflight that got no permission: the browser shows its page no more than that. */
  noteRefused(request: Request): void
}

/** Any site can send requests with any origin. So a process logs this many new origins at once, and then one a minute. */
const mostAtOnce = 20
const minuteMs = 60_000
/** How many logged origins are remembered, so that each has one line. */
const mostRemembered = 1_000
/** Longer than any origin with a host name of DNS (RFC 1035 §2.3.4). */
const longestOrigin = 300

type Options = Pick<Settings, 'origin' | 'ownOrigins' | 'trustedOrigins' | 'development' | 'logger'>

/** @param nowMs a clock that never goes back, in milliseconds */
export function createOriginCheck(settings: Options, nowMs: () => number): OriginCheck {
  const logged = createRecent<true>(mostRemembered)
  const mayLog = createAllowance(nowMs)
  let unlogged = 0

  function noteRefused(request: Request): void {
    const origin = originOf(request)
    if (origin === null || logged.get(origin)) return
    // It is not remembered, so made-up origins hide it only while they keep coming, and the next line counts them.
    if (!mayLog()) {
      unlogged += 1
      return
    }
    logged.set(origin, true)
    settings.logger.warn(
      { event: 'origin_refused', origin, expected: settings.origin, ...(unlogged > 0 && { unlogged }) },
      'A page of another origin was refused. If the page is yours, add its origin to trustedOrigins.',
    )
    unlogged = 0
  }

  return {
    noteRefused,
    fault(request, facts) {
      const code = originFault(request, settings, facts)
      if (code === null) return null
      noteRefused(request)
      const sentence = sentenceFor(request, settings)
      const detail = settings.development ? { detail: sentence } : {}
      return new AuthError(code, { ...detail, explain: `origin rule: ${sentence}` })
    },
  }
}

/** Whether one more line may be logged now; it counts as logged. */
function createAllowance(nowMs: () => number): () => boolean {
  let left = mostAtOnce
  let filledAt = nowMs()
  return () => {
    const minutes = Math.floor((nowMs() - filledAt) / minuteMs)
    left = Math.min(mostAtOnce, left + minutes)
    filledAt += minutes * minuteMs
    if (left === 0) return false
    left -= 1
    return true
  }
}

/** As browsers write it; null for anything else, so that no text of a stranger reaches a log or an answer. */
function originOf(request: Request): string | null {
  const origin = parseOrigin(singleHeader(request, 'origin'))
  return origin !== null && origin.length <= longestOrigin ? origin : null
}

const program = 'A program that is no browser sends X-Auth-Mode: token, and neither Origin nor cookies.'

/** What was wrong and how to mend it, for developers. */
function sentenceFor(request: Request, { origin: own, ownOrigins, trustedOrigins }: Options): string {
  const origin = originOf(request)
  if (origin !== null && trustedOrigins.includes(origin)) {
    return `A form came from ${origin}. Only pages of ${own} may send forms; a trusted origin sends JSON.`
  }
  if (origin !== null && !ownOrigins.includes(origin)) {
    return `The request came from ${origin}, and this application is ${own}. If that page is yours, add its origin to trustedOrigins. ${program}`
  }
  if (request.headers.origin !== undefined) {
    return `The request has an Origin header that names no origin, such as null, and this application is ${own}. ${program}`
  }
  if (request.headers['sec-fetch-site'] !== undefined) {
    return `The request came from a page of another site (Sec-Fetch-Site), and this application is ${own}. If that page is yours, add its origin to trustedOrigins. ${program}`
  }
  return `The request has a form or cookies but neither Origin nor Sec-Fetch-Site, which browsers send from pages of ${own}. ${program}`
}
