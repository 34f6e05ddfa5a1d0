import type { OneTimeToken } from '../model/one-time-token.js'
import type { Ports } from '../ports.js'
import { mayMail } from './account-limits.js'
import { findByHandle, listByEmail } from './find-verification.js'
import { accountExistsMail, draftSecrets, holdsHandle, readApplicant } from './registration.js'
import { requireEmail } from './require-email.js'

export type ResendPorts = Pick<
  Ports,
  'oneTimeTokens' | 'users' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy' | 'limiter'
>

/**
 * Mails again what this browser (or client) registered, with new secrets; the old link and code are dead.
 *
 * Says nothing either way: a decoy is renewed with the same work as a registration, and its owner is told again.
 *
 * @throws {AuthError} `invalid_request`
 */
export async function resendVerification(
  ports: ResendPorts,
  input: { email: string | null; handle: string | null },
): Promise<void> {
  const token =
    input.email === null
      ? await findByHandle(ports, input.handle)
      : await findOwn(ports, requireEmail(input.email).canonical, input.handle)
  if (token) await mailAgain(ports, token)
}

/** New secrets and a new mail for a token that still waits; nothing at all when that address has had enough mails. */
export async function mailAgain(ports: ResendPorts, token: OneTimeToken): Promise<void> {
  if (!(await mayMail(ports, token.email))) return
  const name = token.userId
    ? ((await ports.users.findById(token.userId))?.name ?? null)
    : (readApplicant(ports, token)?.name ?? null)
  const { mail, ...secrets } = draftSecrets(ports, token, name)
  const decoy = token.purpose === 'registration' && readApplicant(ports, token) === null
  const now = ports.clock.now()
  await ports.oneTimeTokens.renew(token.id, secrets, decoy ? accountExistsMail(ports, token.email) : mail, now)
}

async function findOwn(ports: ResendPorts, email: string, handle: string | null): Promise<OneTimeToken | null> {
  const live = await listByEmail(ports, email)
  return live.find((token) => holdsHandle(ports, token, handle)) ?? null
}
