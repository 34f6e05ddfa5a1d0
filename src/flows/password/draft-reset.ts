import { isProved } from '../../model/admin-role.js'
import type { OneTimeToken, ResetPurpose } from '../../model/one-time-token.js'
import { decoyTemplate } from '../../model/outbox-mail.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import type { Drafted } from '../registration/draft.js'
import { auditEvent } from '../steps/audit.js'
import { countMail, type MailAsker, type MailLimitPorts } from '../steps/mail-limit.js'
import { requireEmail } from '../steps/require-account-fields.js'

type DraftPorts = Pick<Ports, 'keyring' | 'random' | 'mails' | 'policy' | 'clock'>

const resetMinutes = 30
const inviteDays = 7

/** A link that sets a new password, or a decoy for an address without an account that may use one. */
export function draftReset(ports: DraftPorts, email: string, user: UserRecord | null): Drafted {
  const { token, url } = draftLink(ports, 'password_reset', { email, user, seconds: resetMinutes * 60 })
  const mail = ports.mails.compose(user ? 'password-reset' : decoyTemplate, email, {
    // The mail greets by name only if the address is verified. An unverified name may be a stranger's text.
    name: (user?.emailVerified && user.name) || '',
    url,
    lifetimeMinutes: String(resetMinutes),
  })
  return { token, mail }
}

/** A link by which an invited user sets the first password. The mail greets by the name that the administrator gave. */
export function draftInvitation(ports: DraftPorts, user: UserRecord): Drafted {
  const email = user.emailCanonical
  const { token, url } = draftLink(ports, 'invite', { email, user, seconds: inviteDays * 86_400 })
  // A name on an account that was not invited may be a stranger's text.
  const name = isProved(user) || user.verifiedBy === 'invitation' ? user.name : null
  const values = { name: name ?? '', url, lifetimeDays: String(inviteDays) }
  return { token, mail: ports.mails.compose('invited', email, values) }
}

/** Only the mail to the stored address holds the secret; the store keeps its digest. */
function draftLink(
  ports: DraftPorts,
  purpose: ResetPurpose,
  { email, user, seconds }: { email: string; user: UserRecord | null; seconds: number },
): { token: OneTimeToken; url: string } {
  const secret = ports.random.token()
  const now = ports.clock.now()
  const token: OneTimeToken = {
    id: ports.random.id(),
    purpose,
    subject: user?.id ?? email,
    userId: user?.id ?? null,
    email,
    tokenHash: ports.keyring.digest(purpose, secret),
    codeHash: null,
    handleHash: null,
    payload: null,
    tries: 0,
    createdAt: now,
    expiresAt: now + seconds,
  }
  return { token, url: `${ports.policy.authUrl}/reset?token=${secret}` }
}

type ForgotPasswordPorts = MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'policy'>

interface ForgotPasswordInput extends MailAsker {
  email: string
}

/**
 * Mails a link that sets a new password, also for an account that has none yet.
 *
 * Whatever the address is, one token and one mail are written: without an account, or for a disabled one, they are decoys
 * that open nothing and are never sent (OWASP ASVS 5.0, 6.3.8). Without room in the mail limit neither is written, and the
 * answer is the same.
 *
 * @throws {AuthError} `invalid_request`
 */
export async function forgotPassword(ports: ForgotPasswordPorts, input: ForgotPasswordInput): Promise<void> {
  const email = requireEmail(input.email).canonical
  const known = await ports.users.findByEmail(email)
  const now = ports.clock.now()
  const user = known && !isDisabled(known, now) ? known : null

  const userId = known?.id ?? null
  const event = 'password_reset_requested'
  const { mailSent } = await countMail(ports, { purpose: 'reset', address: email, asker: input, event, userId })
  if (!mailSent) return

  const { token, mail } = draftReset(ports, email, user)
  const audit = auditEvent(ports, event, input.visitor, { userId, outcome: user ? 'success' : 'failure' })
  await ports.oneTimeTokens.put(token, mail, { keep: 1, now, audit })
}
