import { AuthError } from '../../errors.js'
import type { Ports } from '../../ports.js'
import { findDevice } from './devices.js'

type LimiterPorts = Pick<Ports, 'limiter'>
export type PasswordLimitPorts = Pick<Ports, 'limiter' | 'devices' | 'keyring' | 'clock'> & {
  passwords: Pick<Ports['passwords'], 'requireRoom'>
}

/** A try at a password: for which account, and from which browser. */
export interface PasswordTry {
  /** Canonical. */
  address: string
  /** The id of the account at that address; null without an account. */
  userId: string | null
  /** The browser's device secret. */
  device: string | null
}

/** The subjects that guesses are counted at. Each has a count of its own. */
export const guessesAt = {
  /** Codes that sign in; a guess needs the browser's handle. The address is canonical. */
  otp: (address: string) => `otp ${address}`,
  /** Codes that confirm an address, with the browser's handle; with a password it counts as a sign-in. Canonical address. */
  verification: (address: string) => `verification ${address}`,
  /** Codes of any second factor, and backup codes. */
  factor: (userId: string) => `factor ${userId}`,
}

/**
 * Counts a password that is about to be compared, and returns the subjects whose counts a success resets.
 *
 * It counts by address, whether or not it has an account, so that a refusal reveals nothing (OWASP ASVS 5.0, 6.3.8). A browser
 * that has signed in to this account before has a count of its own, so a stranger who locks an address does not lock out its
 * owner (ASVS 6.1.1). If no password can be compared now, nothing is counted: a full queue must not lock accounts.
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
