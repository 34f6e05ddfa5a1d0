import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { draftVerification } from './draft.js'
import { mayMailAgain } from './may-mail-again.js'

export type JudgePorts = Pick<
  Ports,
  'oneTimeTokens' | 'audit' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy' | 'limiter'
>

/**
 * Judges whether the account may be used, and returns why not, whatever the user has proved. An address that still has to
 * be confirmed gets a new mail.
 */
export async function judgeAndMailAgain(
  ports: JudgePorts,
  user: UserRecord,
  visitor: Visitor,
): Promise<'account_disabled' | 'email_not_verified' | null> {
  if (isDisabled(user, ports.clock.now())) return 'account_disabled'
  if (user.emailVerified || ports.policy.emailVerification === 'optional') return null
  if (await mayMailAgain(ports, user.emailCanonical, { userId: user.id, visitor })) {
    const { token, mail } = draftVerification(ports, user, null)
    const audit = auditEvent(ports, 'verification_requested', visitor, { userId: user.id })
    await ports.oneTimeTokens.put(token, mail, { keep: 1, now: ports.clock.now(), audit })
  }
  return 'email_not_verified'
}
