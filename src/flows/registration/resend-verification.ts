import type { MailOutcome } from '../../model/mail-limit.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { countMail, type MailAsker, type MailLimitPorts } from '../steps/mail-limit.js'
import { requireEmail } from '../steps/require-account-fields.js'
import { accountExistsMail, draftSecrets, draftVerification, holdsHandle, readApplicant } from './draft.js'
import { findByHandle, listByEmail } from './guess-verification.js'

export type ResendPorts = MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'policy'>

interface ResendInput extends MailAsker {
  email: string | null
  /** The handle of this browser (or client). */
  handle: string | null
  /** The signed-in user. */
  userId: string | null
}

/**
 * Mails again what this browser (or client) registered, with new secrets; the old link and code no longer work. A signed-in
 * user whose address is not confirmed gets a new confirmation, also when the first one has expired.
 *
 * The answer is the same for every other client. A decoy is renewed with the same work as a registration, and the owner of
 * the account gets the notice again.
 *
 * @returns the handle that the asking browser keeps from now on; null when it keeps the one it has
 * @throws {AuthError} `invalid_request`
 */
export async function resendVerification(ports: ResendPorts, input: ResendInput): Promise<string | null> {
  const email = input.email === null ? null : requireEmail(input.email).canonical
  const user = await findUnverified(ports, email, input.userId)
  if (user) {
    const handle = ports.random.token()
    const { mailSent } = await confirmAnew(ports, user, { asker: input, handle })
    return mailSent ? handle : null
  }
  const token = email === null ? await findByHandle(ports, input.handle) : await findOwn(ports, email, input.handle)
  if (token) await mailAgain(ports, token, input)
  return null
}

async function findUnverified(
  ports: ResendPorts,
  email: string | null,
  userId: string | null,
): Promise<UserRecord | null> {
  const user = userId === null ? null : await ports.users.findById(userId)
  if (!user || user.emailVerified) return null
  return email === null || email === user.emailCanonical ? user : null
}

/** New secrets and a new mail for a token that still waits, as far as the mail limit has room. */
export async function mailAgain(ports: ResendPorts, token: OneTimeToken, asker: MailAsker): Promise<MailOutcome> {
  const { email: address, userId } = token
  const event = 'verification_requested'
  const outcome = await countMail(ports, { purpose: 'registration', address, asker, event, userId })
  if (!outcome.mailSent) return outcome
  const { mail, ...secrets } = draftSecrets(ports, token)
  const decoy = token.purpose === 'registration' && readApplicant(ports, token) === null
  const facts = { userId, outcome: decoy ? 'failure' : 'success' } as const
  await ports.oneTimeTokens.renew(token.id, secrets, decoy ? accountExistsMail(ports, token.email) : mail, {
    now: ports.clock.now(),
    audit: auditEvent(ports, event, asker.visitor, facts),
  })
  return outcome
}

async function findOwn(ports: ResendPorts, email: string, handle: string | null): Promise<OneTimeToken | null> {
  const live = await listByEmail(ports, email)
  return live.find((token) => holdsHandle(ports, token, handle)) ?? null
}

export type JudgePorts = MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'policy'>

/** Why an account may not be used, even after the right proof. */
interface AccountFault {
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
