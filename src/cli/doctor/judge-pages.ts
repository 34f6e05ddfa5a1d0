import type { Finding, Outcome } from '../../model/doctor/report.js'
import type { Reply } from './ask.js'
import type { Case } from './case.js'

/** Whether the sign-in page and its files arrive. */
export function judgePages({ evidence, url }: Case): Outcome {
  const { page, files } = evidence
  const findings = [faultOf(`${url.pathname}/login`, page), ...files.map(({ path, reply }) => faultOf(path, reply))]
  return findings.filter((finding) => finding !== null)
}

function faultOf(path: string, reply: Reply): Finding | null {
  if (reply.kind === 'silence') return { finding: `${path} does not arrive: ${reply.reason}.` }
  return reply.status === 200 ? null : { finding: `${path} answers with status ${reply.status}.` }
}
