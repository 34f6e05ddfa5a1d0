import type { MailOutcome } from '../../model/mail-limit.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { countMail, type MailAsker, type MailLimitPorts } from '../steps/mail-limit.js'
import { draftVerification } from './draft.js'

export type JudgePorts = MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'policy'>

/** Why an account may not be used, even after the right proof. */
export interface AccountFault {
  code: 'account_disabled' | 'email_not_verified'
  /** Whether a new confirmation was mailed; null where none was due. */
  mail: MailOutcome | null
}

/**
 * Checks whether the account may be used; null when it may. An address that still has to be confirmed gets a new mail, as
 * far as the mail limit has room.
 */
export async function judgeAndMailAgain(
  ports: JudgePorts,
  user: UserRecord,
  asker: MailAsker,
): Promise<AccountFault | null> {
  if (isDisabled(user, ports.clock.now())) return { code: 'account_disabled', mail: null }
  if (user.emailVerified || ports.policy.emailVerification === 'optional') return null
  return { code: 'email_not_verified', mail: await confirmAnew(ports, user, { asker, handle: null }) }
}

/** Mails a new confirmation for an account; `handle` is what the asking browser keeps, null when it keeps nothing. */
export async function confirmAnew(
  ports: JudgePorts,
  user: UserRecord,
  { asker, handle }: { asker: MailAsker; handle: string | null },
): Promise<MailOutcome> {
  const event = 'verification_requested'
  const address = user.emailCanonical
  const outcome = await countMail(ports, { purpose: 'registration', address, asker, event, userId: user.id })
  if (!outcome.mailSent) return outcome
  const { token, mail } = draftVerification(ports, user, handle)
  const audit = auditEvent(ports, event, asker.visitor, { userId: user.id })
  await ports.oneTimeTokens.put(token, mail, { keep: 1, now: ports.clock.now(), audit })
  return outcome
}
