import { AuthError } from '../../errors.js'
import { canonicalCode, withoutGaps } from '../../lib/readable-code.js'
import type { AuditEventName } from '../../model/audit-event.js'
import type { OutboxMail } from '../../model/outbox-mail.js'
import type { FactorProof } from '../../model/second-factor.js'
import type { Session } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { countTry, guessesAt } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { notice } from '../steps/notices.js'

export type FactorPorts = Pick<
  Ports,
  'secondFactors' | 'authenticator' | 'keyring' | 'limiter' | 'audit' | 'clock' | 'random'
>

/** Wrong codes until a challenge, or an enrolment, is worth nothing. */
export const factorTries = 5

/**
 * Counts a guess at the second factor of that account, whichever challenge it is for: neither a new challenge nor the
 * right password gives new guesses (ASVS 5.0, 6.3.1).
 *
 * @throws {AuthError} `rate_limited`
 */
export function countFactorTry(ports: Pick<Ports, 'limiter'>, userId: string): Promise<void> {
  return countTry(ports, 'guess', guessesAt.factor(userId))
}

/** The factor was proved, or taken away: forgets the guesses. */
export function forgetFactorTries(ports: Pick<Ports, 'limiter'>, userId: string): Promise<void> {
  return ports.limiter.forget('guess', [guessesAt.factor(userId)])
}

/** What proves the second factor of that user: a code of the authenticator, else a backup code; null when neither. */
export async function proveFactor(
  ports: Pick<Ports, 'secondFactors' | 'authenticator' | 'keyring' | 'clock'>,
  { id, totp }: UserRecord,
  typed: string,
): Promise<FactorProof | null> {
  if (totp === null) return null
  const digits = withoutGaps(typed)
  if (/^\d{6}$/.test(digits)) {
    const secret = openSecret(ports, id, totp.sealedSecret)
    if (secret === null) return null
    const step = await ports.authenticator.stepOf(secret, digits, totp.lastStep, ports.clock.now())
    return step === null ? null : { kind: 'totp', step }
  }
  const hashes = ports.keyring.digests('backup-code', codeText(id, canonicalCode(typed)))
  const found = await ports.secondFactors.findBackupCode(id, hashes)
  return found === null ? null : { kind: 'backup_code', id: found }
}

/** How the user came in, once that has proved the second factor (RFC 8176). */
export function withFactor(amr: readonly string[], { kind }: FactorProof): string[] {
  return [...new Set([...amr, ...(kind === 'totp' ? ['otp'] : []), 'mfa'])]
}

/** The user's id is part of what is digested: a row that is copied to another user is worth nothing. */
export function codeText(userId: string, code: string): string {
  return `${userId}.${code}`
}

/** Seals an authenticator's secret for that user; nobody else's row can hold it. */
export function sealSecret(ports: Pick<Ports, 'keyring'>, userId: string, secret: string): string {
  return ports.keyring.seal('totp-secret', userId, secret)
}

/** Null when the key that sealed it is gone. */
export function openSecret(ports: Pick<Ports, 'keyring'>, userId: string, sealed: string): string | null {
  return ports.keyring.open('totp-secret', userId, sealed)
}

/**
 * Asks for a code of the factor that is on, whoever is signed in, or else (`session` is null) proved in another way that
 * they are the user. The step that it is for uses it up.
 *
 * @throws {AuthError} `invalid_code`, `rate_limited`
 */
export async function requireFactor(
  ports: FactorPorts,
  { user, session }: { user: UserRecord; session: Pick<Session, 'id'> | null },
  input: { code: string | null; event: AuditEventName; visitor: Visitor },
): Promise<FactorProof> {
  if (input.code !== null) await countFactorTry(ports, user.id)
  const proof = await judgeFactor(ports, { user, session }, input)
  await forgetFactorTries(ports, user.id)
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

/** Tells the user what became of their second factor (ASVS 5.0, 6.3.7). */
export function factorNotice(
  ports: Pick<Ports, 'mails' | 'clock'>,
  { user, visitor, change }: { user: UserRecord; visitor: Visitor; change: 'on' | 'off' | 'codes' },
): { mail?: OutboxMail } {
  const values = { turnedOn: change === 'on' ? 'yes' : '', turnedOff: change === 'off' ? 'yes' : '' }
  return notice(ports, 'two-factor-changed', { user, userAgent: visitor.userAgent, values })
}
