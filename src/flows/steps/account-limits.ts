import { AuthError } from '../../errors.js'
import type { Ports } from '../../ports.js'
import { findDevice } from './devices.js'

type LimiterPorts = Pick<Ports, 'limiter'>
export type PasswordLimitPorts = Pick<Ports, 'limiter' | 'devices' | 'keyring' | 'clock'> & {
  passwords: Pick<Ports['passwords'], 'requireRoom'>
}

/** Whose password is tried, and from which browser. */
export interface PasswordTry {
  /** Canonical. */
  address: string
  /** Of the account at that address; null when there is none. */
  userId: string | null
  /** What the browser holds of its device. */
  device: string | null
}

/** What guesses are counted at, each apart: who has used up those at one has used up none at another. */
export const guessesAt = {
  /** Codes that sign in; only who holds the handle gets to guess. Canonical. */
  otp: (address: string) => `otp ${address}`,
  /** Codes that confirm an address, in the browser that registered; with a password it counts as a sign-in. Canonical. */
  verification: (address: string) => `verification ${address}`,
  /** Codes of any second factor, and backup codes. */
  factor: (userId: string) => `factor ${userId}`,
}

/**
 * Counts a password that is about to be compared, and returns what a success makes forgotten.
 *
 * By address, whether or not it has an account, so that a refusal tells nothing (OWASP ASVS 5.0, 6.3.8). A browser that
 * has signed in to this account before has a count of its own: whoever locks an address does not lock out its owner
 * (ASVS 6.1.1). Where no password can be compared now, nothing is counted: a full queue must not lock accounts.
 *
 * @throws {AuthError} `rate_limited`, `busy`
 */
export async function countPassword(
  ports: PasswordLimitPorts,
  { address, userId, device: token }: PasswordTry,
): Promise<readonly string[]> {
  ports.passwords.requireRoom()
  const device = userId === null ? null : await findDevice(ports, token)
  const known = device !== null && device.userId === userId
  const subject = known ? `device ${device.id}` : address
  await countTry(ports, 'login', subject)
  return known ? [subject, address] : [address]
}

/**
 * Counts a try before its outcome is known.
 *
 * @throws {AuthError} `rate_limited`
 */
export async function countTry(ports: LimiterPorts, kind: 'login' | 'guess', subject: string): Promise<void> {
  const verdict = await ports.limiter.account(kind, subject)
  if (verdict === null || verdict.allowed) return
  throw new AuthError('rate_limited', { retryAfterSeconds: verdict.resetSeconds })
}

/** Counts a mail that somebody asks for, by where it would go; false: it is not sent, and nobody is told. */
export async function mayMail(ports: LimiterPorts, address: string): Promise<boolean> {
  const verdict = await ports.limiter.account('mail', address)
  return verdict === null || verdict.allowed
}
