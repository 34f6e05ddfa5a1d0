import type { Outcome, Topic } from '../../model/doctor/report.js'
import { rangeApiFault } from '../../passwords/breached.js'
import { type DoctorContext, defineCheck } from './context.js'

export function passwordChecks(context: DoctorContext): Topic {
  return [
    defineCheck('breach_check_down', () => askRangeApi(context)),
    defineCheck('hash_fallback', () => {
      const reason = context.hashFallback()
      return reason === null ? null : { finding: `No worker thread started here (${reason}).` }
    }),
  ]
}

async function askRangeApi({ settings, world }: DoctorContext): Promise<Outcome> {
  const { checkBreached } = settings.password
  if (checkBreached === false) return { skipped: 'password.checkBreached is off.' }
  const fault = await rangeApiFault(checkBreached, world)
  if (fault === null) return null
  return {
    finding: `The range API at ${new URL(checkBreached).host} gives no usable answer: ${fault.replaceAll('_', ' ')}.`,
  }
}
