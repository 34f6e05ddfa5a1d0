import { runDoctor } from '../../../flows/control/run-doctor.js'
import { forwardedBy } from '../../../http/seen-request.js'
import type { CheckResult } from '../../../model/doctor/report.js'
import { clientHeaderIn } from '../../../model/doctor-echo.js'
import { defineAdminPage } from './admin-page.js'

export const doctorPage = defineAdminPage({
  path: '/doctor',
  at: 'doctor',
  template: 'doctor',
  summary: 'Shows what the checks of the server found, with cause and cure. Runs them at most once a minute.',
  async values({ ports, request }) {
    const { checkedAt, checks } = await runDoctor(ports, { forwardingHeader: clientHeaderIn(forwardedBy(request)) })
    const findings = checks.filter(({ ok }) => !ok)
    const worstFirst = [...findings].sort((one, other) => rank(one) - rank(other))
    return {
      checkedAt,
      findings: worstFirst.map(({ code, level, finding, cause, cure }) => ({
        code,
        severe: level === 'error',
        levelText: `admin.doctor.${level}`,
        finding: partsOf(finding),
        cause: partsOf(cause),
        cure: partsOf(cure),
      })),
      skipped: checks.flatMap(({ code, skipped }) => (skipped === null ? [] : [{ code, reason: partsOf(skipped) }])),
      passed: checks.filter(({ ok, skipped }) => ok && skipped === null).map(({ code }) => code),
    }
  },
})

function rank({ level }: Pick<CheckResult, 'level'>): number {
  return level === 'error' ? 0 : 1
}

/** The texts of checks mark code with backticks. */
function partsOf(text: string | null): { text: string; code: boolean }[] {
  return (text ?? '').split('`').map((part, index) => ({ text: part, code: index % 2 === 1 }))
}
