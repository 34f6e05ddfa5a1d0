import type { MailOutcome } from '../../model/mail-limit.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { countMail, type MailAsker, type MailLimitPorts } from '../steps/mail-limit.js'
import { requireEmail } from '../steps/require-email.js'
import { accountExistsMail, draftSecrets, holdsHandle, readApplicant } from './draft.js'
import { findByHandle, listByEmail } from './find-verification.js'
import { confirmAnew } from './judge-and-mail-again.js'

export type ResendPorts = MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'policy'>

export interface ResendInput extends MailAsker {
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
