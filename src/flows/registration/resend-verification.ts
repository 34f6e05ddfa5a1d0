import type { OneTimeToken } from '../../model/one-time-token.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { requireEmail } from '../steps/require-email.js'
import { accountExistsMail, draftSecrets, draftVerification, holdsHandle, readApplicant } from './draft.js'
import { findByHandle, listByEmail } from './find-verification.js'
import { mayMailAgain } from './may-mail-again.js'

export type ResendPorts = Pick<
  Ports,
  'oneTimeTokens' | 'users' | 'audit' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy' | 'limiter'
>

export interface ResendInput {
  email: string | null
  /** What this browser (or client) holds. */
  handle: string | null
  /** Who is signed in. */
  userId: string | null
  visitor: Visitor
}

/**
 * Mails again what this browser (or client) registered, with new secrets; the old link and code are dead. Whoever is signed
 * in with an address that nobody has confirmed gets a new confirmation, also where the first one has expired.
 *
 * Says nothing either way to others: a decoy is renewed with the same work as a registration, and its owner is told again.
 *
 * @returns What the asking browser keeps from now on; null: what it has.
 * @throws {AuthError} `invalid_request`
 */
export async function resendVerification(ports: ResendPorts, input: ResendInput): Promise<string | null> {
  const email = input.email === null ? null : requireEmail(input.email).canonical
  const user = await findUnverified(ports, email, input.userId)
  if (user) return confirmAnew(ports, user, input.visitor)
  const token = email === null ? await findByHandle(ports, input.handle) : await findOwn(ports, email, input.handle)
  if (token) await mailAgain(ports, token, input.visitor)
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

async function confirmAnew(ports: ResendPorts, user: UserRecord, visitor: Visitor): Promise<string | null> {
  if (!(await mayMailAgain(ports, user.emailCanonical, { userId: user.id, visitor }))) return null
  const handle = ports.random.token()
  const { token, mail } = draftVerification(ports, user, handle)
  const audit = auditEvent(ports, 'verification_requested', visitor, { userId: user.id })
  await ports.oneTimeTokens.put(token, mail, { keep: 1, now: ports.clock.now(), audit })
  return handle
}

/** New secrets and a new mail for a token that still waits; no mail when that address has had enough. */
export async function mailAgain(ports: ResendPorts, token: OneTimeToken, visitor: Visitor): Promise<void> {
  if (!(await mayMailAgain(ports, token.email, { userId: token.userId, visitor }))) return
  const { mail, ...secrets } = draftSecrets(ports, token)
  const decoy = token.purpose === 'registration' && readApplicant(ports, token) === null
  const facts = { userId: token.userId, outcome: decoy ? 'failure' : 'success' } as const
  await ports.oneTimeTokens.renew(token.id, secrets, decoy ? accountExistsMail(ports, token.email) : mail, {
    now: ports.clock.now(),
    audit: auditEvent(ports, 'verification_requested', visitor, facts),
  })
}

async function findOwn(ports: ResendPorts, email: string, handle: string | null): Promise<OneTimeToken | null> {
  const live = await listByEmail(ports, email)
  return live.find((token) => holdsHandle(ports, token, handle)) ?? null
}
