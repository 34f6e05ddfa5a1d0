import { late, nowSeconds, within } from '../../lib/runtime.js'
import { MailFault } from '../../mail/mailer.js'
import { verifyTransport } from '../../mail/verify-transport.js'
import type { Outcome, Topic } from '../../model/doctor/report.js'
import { counted, type DoctorContext, defineCheck, withStore } from './context.js'

const backlogSeconds = 15 * 60
/** Below the limit of a check, so that a server that does not answer is a finding. */
const smtpLimitMs = 4_500

export function mailChecks(context: DoctorContext): Topic {
  return [defineCheck('mail_backlog', () => judgeBacklog(context)), defineCheck('smtp_refused', () => verify(context))]
}

function judgeBacklog(context: DoctorContext): Promise<Outcome> {
  return withStore(context, async ({ outbox }) => {
    const { waiting, oldestAt, setAside } = await outbox.depth()
    const oldestSeconds = oldestAt === null ? 0 : nowSeconds(context.world) - oldestAt
    const isLate = oldestSeconds >= backlogSeconds
    if (!isLate && setAside === 0) return null
    const minutes = Math.floor(oldestSeconds / 60)
    const delayed = `Waiting: ${counted(waiting, 'mail')}, the oldest for ${counted(minutes, 'minute')}.`
    const given = `Set aside: ${counted(setAside, 'mail')}.`
    return { finding: [...(isLate ? [delayed] : []), ...(setAside > 0 ? [given] : [])].join(' ') }
  })
}

async function verify({ settings, world }: DoctorContext): Promise<Outcome> {
  if (settings.mail === null) return { skipped: 'The setting mail is not given.' }
  try {
    const verified = await within(world.timer, smtpLimitMs, verifyTransport(settings.mail.transport))
    if (verified === late) return { finding: 'The mail server did not answer in time.' }
    return verified ? null : { skipped: 'This kind of mail transport cannot be verified.' }
  } catch (error) {
    return {
      finding: `The mail server cannot be used: ${error instanceof MailFault ? sentences(error.code) : 'unknown'}.`,
    }
  }
}

function sentences(code: string): string {
  return code.replaceAll('_', ' ')
}
