import { invalidField } from '../../errors.js'
import type { MailOutcome } from '../../model/mail-limit.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { requirePassword } from '../account/require-password.js'
import { accountExistsMail, type Drafted } from '../registration/draft.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMinutes, draftEmailToken, isReserved } from '../steps/email-tokens.js'
import { countMail, type MailAsker, type MailLimitPorts } from '../steps/mail-limit.js'
import { requireEmail } from '../steps/require-account-fields.js'

export type ChangeEmailPorts = Pick<Ports, 'sessions' | 'oneTimeTokens' | 'passwords' | 'policy'> &
  MailLimitPorts &
  PasswordLimitPorts

export interface ChangeEmailInput extends MailAsker {
  newEmail: string
  /** null where the account has none. */
  password: string | null
}

/**
 * Mails the new address a link; nothing changes before it is used (ASVS 5.0, 7.5.1). The link holds for the account as it
 * was when the password was compared: a password, role or factor that changes afterwards makes the link void.
 *
 * After the password, the answer, its work and its mail count are the same for every address (ASVS 6.3.8). An address that
 * is taken gets a notice in place of the link, and the secret of the stored token is never sent. The user has shown the
 * password, so the answer says whether the mail limit had room.
 *
 * @throws {AuthError} `invalid_request` (no address, or the account's own), `invalid_credentials`, `rate_limited`,
 *   `recent_login_required`, `token_revoked`, `busy`
 */
export async function changeEmail(
  ports: ChangeEmailPorts,
  principal: SessionPrincipal,
  { newEmail, password, visitor, device }: ChangeEmailInput,
): Promise<MailOutcome> {
  const email = requireEmail(newEmail, 'newEmail')
  const state = await readProfile(ports, principal)
  if (email.canonical === state.user.emailCanonical) {
    throw invalidField('newEmail', 'is the address that it has')
  }
  const event = 'email_change_requested'
  await requirePassword(ports, state, { password, event, visitor, device })

  const facts = { userId: state.user.id, sessionId: state.session.id }
  const isFree = await mayHave(ports, email.canonical, state.user.id)
  const asked = { purpose: 'email_change', address: email.canonical, asker: { visitor, device }, event } as const
  const outcome = await countMail(ports, { ...asked, ...facts, account: state.user })
  if (!outcome.mailSent) return outcome

  const { token, mail } = draftChange(ports, state.user, email, isFree)
  const audit = auditEvent(ports, event, visitor, facts)
  await ports.oneTimeTokens.put(token, mail, { keep: 1, now: ports.clock.now(), audit })
  return outcome
}

async function mayHave(ports: ChangeEmailPorts, email: string, userId: string): Promise<boolean> {
  const [owner, reserved] = await Promise.all([ports.users.findByEmail(email), isReserved(ports, email, userId)])
  return owner === null && !reserved
}

/** The mail greets without a name: the name is what the account's user typed, and the address may be a stranger's. */
function draftChange(
  ports: ChangeEmailPorts,
  user: UserRecord,
  email: { typed: string; canonical: string },
  isFree: boolean,
): Drafted {
  const { token, url } = draftEmailToken(ports, 'email_change', user, email)
  const values = { url, lifetimeMinutes: String(changeMinutes) }
  return {
    token,
    mail: isFree
      ? ports.mails.compose('email-change', email.canonical, values)
      : accountExistsMail(ports, email.canonical),
  }
}
