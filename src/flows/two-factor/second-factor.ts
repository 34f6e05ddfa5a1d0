import { AuthError } from '../../errors.js'
import { canonicalCode } from '../../lib/readable-code.js'
import type { AuditEventName } from '../../model/audit-event.js'
import { hasFactor, twoFactorSince } from '../../model/factors/kinds.js'
import type { OutboxMail } from '../../model/outbox-mail.js'
import type { FactorProof } from '../../model/second-factor.js'
import type { Session } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { countTry } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { findDeviceOf } from '../steps/devices.js'
import { notice } from '../steps/notices.js'
import type { CodeCheckPorts } from './code-check.js'
import { checkFor } from './code-kinds.js'

type ProvePorts = CodeCheckPorts & Pick<Ports, 'secondFactors' | 'keyring'>
export type FactorPorts = ProvePorts & Pick<Ports, 'limiter' | 'devices' | 'audit' | 'clock' | 'random'>

/** Wrong codes that end a challenge or an enrolment. */
export const factorTries = 5

/** A guess at the second factor of an account, by the browser with this device secret. */
export interface FactorTry {
  user: UserRecord
  device: string | null
}

/** The subject of the known device that a guess was counted at; null: with those of all other clients. */
export interface CountedFactorTry {
  device: string | null
}

/**
 * Counts a guess at the second factor of that account, whichever challenge it is for: neither a new challenge nor the
 * right password gives new guesses (ASVS 5.0, 6.3.1).
 *
 * A known device of the account has a count of its own. Otherwise a person who knows the password could use up the guesses
 * and lock its owner out (ATK-291, ASVS 6.1.1).
 *
 * @throws {AuthError} `rate_limited`
 */
export async function countFactorTry(
  ports: Pick<Ports, 'limiter' | 'devices' | 'keyring' | 'clock'>,
  { user, device: token }: FactorTry,
): Promise<CountedFactorTry> {
  const device = await findDeviceOf(ports, user.id, token)
  if (device) {
    // Each factor has counts of its own, so those of a factor that was taken away do not count at the next one.
    const subject = `factor device ${device.id} ${twoFactorSince(user)}`
    await countTry(ports, 'guess', subject)
    return { device: subject }
  }
  const retryAfterSeconds = await ports.limiter.factor(user.id)
  if (retryAfterSeconds !== null) throw new AuthError('rate_limited', { retryAfterSeconds })
  return { device: null }
}

/** The factor was proved, or taken away: forgets the guesses. */
export async function forgetFactorTries(
  ports: Pick<Ports, 'limiter'>,
  userId: string,
  counted: CountedFactorTry | null = null,
): Promise<void> {
  if (counted?.device) await ports.limiter.forget('guess', [counted.device])
  await ports.limiter.forgetFactor(userId)
}

/**
 * What a typed code proves for that user: one of their factors, or a backup code in its place; null when it is wrong. A
 * text that looks like the code of a factor is tried as no backup code.
 */
export async function proveFactor(ports: ProvePorts, user: UserRecord, typed: string): Promise<FactorProof | null> {
  if (!hasFactor(user)) return null
  const found = checkFor(user.factors, typed)
  return found
    ? found.check.prove(ports, { userId: user.id, factor: found.factor }, typed)
    : proveBackupCode(ports, user.id, typed)
}

async function proveBackupCode(ports: ProvePorts, userId: string, typed: string): Promise<FactorProof | null> {
  const hashes = ports.keyring.digests('backup-code', codeText(userId, canonicalCode(typed)))
  const id = await ports.secondFactors.findBackupCode(userId, hashes)
  return id === null ? null : { kind: 'backup_code', id }
}

/** What is digested of a backup code. It includes the user's id: a row copied to another user matches no code. */
export function codeText(userId: string, code: string): string {
  return `${userId}.${code}`
}

/**
 * Asks for a code of a factor that is on, or a backup code. The step that it is for uses it up. `session` is null where
 * the user has proved in another way who they are.
 *
 * @throws {AuthError} `invalid_code`, `rate_limited`
 */
export async function requireFactor(
  ports: FactorPorts,
  { user, session }: { user: UserRecord; session: Pick<Session, 'id'> | null },
  input: { code: string | null; event: AuditEventName; visitor: Visitor; device: string | null },
): Promise<FactorProof> {
  const { code, device } = input
  const counted = code === null ? null : await countFactorTry(ports, { user, device })
  const proof = await judgeFactor(ports, { user, session }, input)
  await forgetFactorTries(ports, user.id, counted)
  return proof
}

/**
 * The same for a caller that counts the guesses itself.
 *
 * @throws {AuthError} `invalid_code`
 */
export async function judgeFactor(
  ports: FactorPorts,
  { user, session }: { user: UserRecord; session: Pick<Session, 'id'> | null },
  input: { code: string | null; event: AuditEventName; visitor: Visitor },
): Promise<FactorProof> {
  if (input.code === null) throw new AuthError('invalid_code')
  const proof = await proveFactor(ports, user, input.code)
  if (proof) return proof
  const facts = {
    userId: user.id,
    sessionId: session?.id ?? null,
    outcome: 'failure',
    detail: { reason: 'invalid_code' },
  } as const
  await ports.audit.record(auditEvent(ports, input.event, input.visitor, facts))
  throw new AuthError('invalid_code')
}

/** The mail that says how the user's second factor changed (ASVS 5.0, 6.3.7). */
export function factorNotice(
  ports: Pick<Ports, 'mails' | 'clock'>,
  { user, visitor, change }: { user: UserRecord; visitor: Visitor; change: 'on' | 'off' | 'codes' },
): { mail?: OutboxMail } {
  const values = { turnedOn: change === 'on' ? 'yes' : '', turnedOff: change === 'off' ? 'yes' : '' }
  return notice(ports, 'two-factor-changed', { user, userAgent: visitor.userAgent, values })
}
