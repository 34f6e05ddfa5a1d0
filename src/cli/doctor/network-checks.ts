import { isLoopbackHost } from '../../lib/url.js'
import { type CheckCode, checkRows } from '../../model/doctor/checks.js'
import { judgeSkew } from '../../model/doctor/clock-skew.js'
import { type CheckResult, type Outcome, toResults } from '../../model/doctor/report.js'
import { clientHeaderIn, type DoctorEcho } from '../../model/doctor-echo.js'
import { type Case, readCase } from './case.js'
import { cookieFault } from './cookie-line.js'
import { type Evidence, forgedAddress } from './evidence.js'
import { judgeAddress } from './judge-address.js'
import { judgePages } from './judge-pages.js'

/** Every check of the network between tool and application, in the order of the report. */
const checks: readonly (readonly [code: CheckCode, judge: (found: Case) => Outcome])[] = [
  ['clock_skew', judgeClock],
  ['base_url_mismatch', judgeAddress],
  ['page_unreachable', withEcho(judgePages)],
  ['https_missing', judgeHttps],
  ['hsts_missing', withEcho(judgeHsts)],
  ['cookie_altered', withEcho(judgeCookie)],
  ['proxy_untrusted', withEcho(judgeProxy)],
  ['proxy_spoofable', withEcho(judgeForgery)],
  ['allow_list_self', judgeSelf],
]

export function judgeNetwork(evidence: Evidence): CheckResult[] {
  const found = readCase(evidence)
  return checks.flatMap(([code, judge]) => toResults(code, checkRows[code], judge(found)))
}

/** Without evidence of the network, why. */
export function skipNetwork(reason: string): CheckResult[] {
  return checks.flatMap(([code]) => toResults(code, checkRows[code], { skipped: reason }))
}

/** A check that needs the answer of this very installation. */
function withEcho(judge: (found: Case, echo: DoctorEcho) => Outcome): (found: Case) => Outcome {
  return (found) =>
    'reply' in found.echo ? { skipped: 'The application did not answer the tool.' } : judge(found, found.echo)
}

function judgeClock({ aheadMs }: Case): Outcome {
  return aheadMs === null ? { skipped: 'No answer with the header Date arrived.' } : judgeSkew('the server', aheadMs)
}

function judgeHttps({ url }: Case): Outcome {
  if (url.protocol === 'https:' || isLoopbackHost(url.hostname)) return null
  return { finding: `${url.origin} is reached over http.` }
}

function judgeHsts({ url, evidence: { echo } }: Case): Outcome {
  if (url.protocol !== 'https:') return { skipped: 'The address has no https.' }
  const header = echo.kind === 'answer' ? echo.headers.get('strict-transport-security') : null
  return header === null ? { finding: `Answers of ${url.origin} lack Strict-Transport-Security.` } : null
}

function judgeCookie({ evidence: { echo } }: Case, { cookie }: DoctorEcho): Outcome {
  const arrived = echo.kind === 'answer' ? echo.headers.getSetCookie() : []
  const fault = cookieFault(cookie, arrived)
  return fault === null ? null : { finding: fault }
}

/** The tool sends no forwarding header with its first request, so a proxy wrote those that arrived. */
function judgeProxy(_: Case, { headers, trustedProxies }: DoctorEcho): Outcome {
  const header = clientHeaderIn(headers)
  if (trustedProxies !== 'none' || header === null) return null
  return { finding: `The request arrived with the header ${header}, and trustedProxies is not set.` }
}

function judgeForgery({ forged }: Case, { fromTrustedProxy }: DoctorEcho): Outcome {
  if (fromTrustedProxy)
    return { skipped: 'The tool runs at the address of a trusted proxy, which may state any address.' }
  // The allow-list let the honest request pass, so it refused the address that the other one made up.
  const believed = 'reply' in forged ? forged.code === 'ip_not_allowed' : forged.ip === forgedAddress
  return believed ? { finding: `A request with X-Forwarded-For: ${forgedAddress} counted as one from there.` } : null
}

function judgeSelf({ echo }: Case): Outcome {
  if (!('reply' in echo)) return null
  if (echo.code === 'ip_not_allowed') return { finding: 'The application refuses requests from your address.' }
  return { skipped: 'The application did not answer the tool.' }
}
