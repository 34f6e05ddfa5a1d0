import type { Outcome } from '../../model/doctor/report.js'
import type { Reply } from './ask.js'
import type { Case } from './case.js'
import type { NoEcho } from './echo-answer.js'

/** How an application refuses a proof or a sign-in that another one made. */
const refusals: readonly (string | null)[] = ['unauthenticated', 'forbidden']

/** A proof is refused when the clocks differ by a minute. */
const proofToleranceMs = 55_000

/** Whether the address leads to this installation. */
export function judgeAddress({ url, echo, evidence, aheadMs }: Case): Outcome {
  if ('reply' in echo) {
    const isRefused = refusals.includes(echo.code)
    const isLate = isRefused && Math.abs(aheadMs ?? 0) > proofToleranceMs
    return isLate
      ? { skipped: 'The clocks differ too much for the proof of the tool.' }
      : judgeSilence(url.origin, echo)
  }
  const { installationId } = evidence.target
  if (installationId !== null && echo.installationId !== installationId) {
    return { finding: `${url.origin} answers as another installation, with another database.` }
  }
  const { origin } = new URL(echo.baseUrl)
  if (origin === url.origin) return null
  return { finding: `The setting baseUrl is ${echo.baseUrl}, but the application is reached at ${url.origin}.` }
}

function judgeSilence(origin: string, { reply, code }: NoEcho): Outcome {
  if (reply.kind === 'silence') return { finding: `${origin} does not answer: ${reply.reason}.` }
  if (code === 'ip_not_allowed') return { skipped: 'The allow-list excludes this machine.' }
  if (code === 'rate_limited') return { skipped: 'The application limits the requests of this machine.' }
  if (refusals.includes(code)) {
    return { finding: `${origin} answers as another installation: it refuses the credential of the tool.` }
  }
  return { finding: `${origin} ${describe(reply)}.` }
}

function describe({ status, headers }: Extract<Reply, { kind: 'answer' }>): string {
  const location = headers.get('location')
  if (status < 300 || status >= 400 || location === null) return `does not answer like Latchkey (status ${status})`
  return `redirects to ${URL.canParse(location) ? new URL(location).origin : 'another path'}`
}
