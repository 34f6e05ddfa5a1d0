import { AuthError } from '../../errors.js'
import { coarseNetwork } from '../../lib/ip-address.js'
import { actorId } from '../../model/actor.js'
import type { HashSource } from '../../model/imported-account.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { findDeviceOf } from './devices.js'

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
  visitor: Pick<Visitor, 'ip'>
}

export interface CountedPassword {
  /** The subjects whose counts a success resets. */
  failures: readonly string[]
  /** The client that it is for, as the queue knows it. */
  source: HashSource
}

/**
 * The subject that guesses at mailed codes are counted at: the browser that asked for the code, by its handle. A guess needs
 * the handle, so a stranger uses up no guess of the owner's browser (ATK-293). A code of a registration that comes with the
 * password counts as a sign-in instead.
 */
export function guessesOf({ purpose, email, handleHash }: OneTimeToken): string {
  return `${purpose} ${email} ${handleHash}`
}

/**
 * Counts a password that is about to be compared.
 *
 * It counts by address, whether or not it has an account, so that a refusal reveals nothing (OWASP ASVS 5.0, 6.3.8). A browser
 * that has signed in to this account before has a count of its own, so a stranger who locks an address does not lock out its
 * owner (ASVS 6.1.1). If no password can be compared now, nothing is counted: a full queue must not lock accounts.
 *
 * @throws {AuthError} `rate_limited`, `busy`
 */
export async function countPassword(
  ports: PasswordLimitPorts,
  { address, userId, device: token, visitor }: PasswordTry,
): Promise<CountedPassword> {
  const device = userId === null ? null : await findDeviceOf(ports, userId, token)
  const subject = device ? `device ${device.id}` : address
  const source = device ? { key: subject, known: true } : networkSource(visitor)
  ports.passwords.requireRoom(source)
  await countTry(ports, 'login', subject)
  return { failures: device ? [subject, address] : [address], source }
}

/**
 * Who asks for a new password: a signed-in user is known, our own code shares no bound with clients, and all others are served
 * among those of their network.
 */
export function visitorSource(visitor: Pick<Visitor, 'ip' | 'actor'>): HashSource {
  const { actor } = visitor
  if (actor === null) return networkSource(visitor)
  const id = actorId(actor)
  return id === null ? { key: null, known: false } : { key: `${actor.kind} ${id}`, known: true }
}

/** A client that is no known device of the account is served among those of its network. */
export function networkSource({ ip }: Pick<Visitor, 'ip'>): HashSource {
  return { key: coarseNetwork(ip) ?? 'unknown', known: false }
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
