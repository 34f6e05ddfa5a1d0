import { AuthError } from '../../errors.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { draftInvitation } from '../password/draft-reset.js'
import { confirmAnew, type JudgePorts } from '../registration/resend-verification.js'
import { auditEvent } from '../steps/audit.js'

type MailVerificationPorts = JudgePorts & Pick<Ports, 'users'>
type InviteAgainPorts = Parameters<typeof draftInvitation>[0] & Pick<Ports, 'oneTimeTokens'>

/**
 * Mails the confirmation of an address again. An account without a password gets an invitation, because a confirmation in
 * another browser asks for the password.
 *
 * @returns whether a mail is sent; false for a verified account, which needs none
 * @throws {AuthError} `not_found`, `rate_limited` where the mail limit has no room for the address
 */
export async function mailVerification(
  ports: MailVerificationPorts,
  { id, visitor }: { id: string; visitor: Visitor },
): Promise<boolean> {
  const user = await ports.users.findById(id)
  if (!user) throw new AuthError('not_found')
  if (user.emailVerified) return false
  if (user.passwordHash === null) {
    await inviteAgain(ports, user, visitor)
    return true
  }
  const outcome = await confirmAnew(ports, user, { asker: { visitor, device: null }, handle: null })
  if (!outcome.mailSent) throw new AuthError('rate_limited', { retryAfterSeconds: outcome.retryAfter })
  return true
}

/** Mails a link that sets a password. Its use proves the mailbox, and so removes what was written before. */
export async function inviteAgain(ports: InviteAgainPorts, user: UserRecord, visitor: Visitor): Promise<void> {
  const { token, mail } = draftInvitation(ports, user)
  const audit = auditEvent(ports, 'verification_requested', visitor, { userId: user.id, detail: { invited: true } })
  await ports.oneTimeTokens.put(token, mail, { keep: 1, now: ports.clock.now(), audit })
}
