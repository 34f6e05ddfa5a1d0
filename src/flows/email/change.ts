import { AuthError } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { requirePassword } from '../account/require-password.js'
import { accountExistsMail, type Drafted } from '../registration/draft.js'
import { mayMail, type PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMinutes, draftEmailToken, isReserved } from '../steps/email-tokens.js'
import { requireEmail } from '../steps/require-email.js'

export type ChangeEmailPorts = Pick<
  Ports,
  'users' | 'sessions' | 'oneTimeTokens' | 'passwords' | 'mails' | 'audit' | 'random' | 'policy'
> &
  PasswordLimitPorts

export interface ChangeEmailInput {
  newEmail: string
  /** null where the account has none. */
  password: string | null
  visitor: Visitor
  /** What the browser holds of its device. */
  device: string | null
}

/**
 * Mails the new address a link; nothing changes before it is used (ASVS 5.0, 7.5.1). It holds for the account as it was
 * when the password was compared: a password, role or factor that is changed meanwhile or later makes it void.
 *
 * After the password, the answer, its work and its mail count are the same for every address: one that is taken gets a
 * notice in place of the link, and the token that is kept opens nothing, since nobody holds its secret (ASVS 6.3.8).
 *
 * @throws {AuthError} `invalid_request` (no address, or the account's own), `invalid_credentials`, `rate_limited`,
 *   `recent_login_required`, `token_revoked`, `busy`
 */
export async function changeEmail(
  ports: ChangeEmailPorts,
  principal: SessionPrincipal,
  { newEmail, password, visitor, device }: ChangeEmailInput,
): Promise<void> {
  const email = requireEmail(newEmail, 'newEmail')
  const state = await readProfile(ports, principal)
  if (email.canonical === state.user.emailCanonical) {
    throw new AuthError('invalid_request', { errors: [{ path: 'newEmail', message: 'is the address that it has' }] })
  }
  await requirePassword(ports, state, { password, event: 'email_change_requested', visitor, device })

  const facts = { userId: state.user.id, sessionId: state.session.id }
  const isFree = await mayHave(ports, email.canonical, state.user.id)
  if (!(await mayMail(ports, email.canonical))) {
    const refused = { ...facts, outcome: 'failure', detail: { reason: 'mail_limit' } } as const
    await ports.audit.record(auditEvent(ports, 'email_change_requested', visitor, refused))
    return
  }
  const { token, mail } = draftChange(ports, state.user, email, isFree)
  const audit = auditEvent(ports, 'email_change_requested', visitor, facts)
  await ports.oneTimeTokens.put(token, mail, { keep: 1, now: ports.clock.now(), audit })
}

async function mayHave(ports: ChangeEmailPorts, email: string, userId: string): Promise<boolean> {
  const [owner, reserved] = await Promise.all([ports.users.findByEmail(email), isReserved(ports, email, userId)])
  return owner === null && !reserved
}

/** The mail greets nobody by name: whoever asked may have written the name, and the address may be a stranger's. */
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
