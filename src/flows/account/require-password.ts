import { AuthError, type ErrorCode } from '../../errors.js'
import type { AuditEventName } from '../../model/audit-event.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Session } from '../../model/session.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { countPassword, type PasswordLimitPorts } from '../steps/account-limits.js'
import { type AuditFacts, auditEvent } from '../steps/audit.js'
import { readProfile } from './profile.js'

/** How old a sign-in may be to replace a password that the account does not have. */
const recentSeconds = 5 * 60

/**
 * Requires the account's password from the signed-in user. Without a password, a sign-in at most five minutes old suffices
 * (ASVS 5.0, 7.5.1). A wrong password is recorded as a failure of `event`.
 *
 * @throws {AuthError} `invalid_credentials`, `rate_limited`, `recent_login_required`, `busy`
 */
export async function requirePassword(
  ports: Pick<Ports, 'passwords' | 'audit' | 'random'> & PasswordLimitPorts,
  { user, session }: SessionState,
  input: { password: string | null; event: AuditEventName; visitor: Visitor; device: string | null },
): Promise<void> {
  if (user.passwordHash === null) return requireRecent(ports, session)
  const startedAt = ports.clock.monotonicMs()
  const tried = { address: user.emailCanonical, userId: user.id, device: input.device, visitor: input.visitor }
  const { failures, source } = await countPassword(ports, tried)
  const check = await ports.passwords.verify(input.password ?? '', user.passwordHash, source)
  if (check.matches) return ports.limiter.forget('login', failures)

  const facts: AuditFacts = { userId: user.id, sessionId: session.id, outcome: 'failure' }
  await ports.audit.record(auditEvent(ports, input.event, input.visitor, facts))
  await ports.passwords.floor(startedAt)
  throw new AuthError('invalid_credentials', { detail: 'The password is wrong.' })
}

/**
 * Requires a sign-in at most five minutes old, or the account's password. For steps of users who may have no password at hand:
 * they signed in by a provider or a passkey.
 *
 * @throws {AuthError} as `requirePassword`
 */
export async function requireFresh(
  ports: Parameters<typeof requirePassword>[0],
  state: SessionState,
  input: Parameters<typeof requirePassword>[2],
): Promise<void> {
  if (input.password === null) return requireRecent(ports, state.session)
  await requirePassword(ports, state, input)
}

function requireRecent(ports: Pick<Ports, 'clock'>, { authTime }: Pick<Session, 'authTime'>): void {
  if (!isRecent(ports, { authTime })) throw new AuthError('recent_login_required')
}

/** Whether the sign-in is recent enough to replace a password. */
export function isRecent(ports: Pick<Ports, 'clock'>, { authTime }: Pick<Session, 'authTime'>): boolean {
  return ports.clock.now() - authTime <= recentSeconds
}

const attempts = 3

/**
 * Takes a step that holds only for the account as it was read. If something else about the account (a role, a name) has changed
 * meanwhile, the step is repeated with the current account.
 *
 * @param step Null when it was refused.
 * @param refusal The code if the account is unchanged, so that the step itself came too late.
 * @throws {AuthError} `token_revoked` when the session ended meanwhile, `refusal`, `busy`
 */
export async function atVersion<Result>(
  ports: Pick<Ports, 'sessions'>,
  { principal, state, refusal }: { principal: SessionPrincipal; state: SessionState; refusal: ErrorCode },
  step: (current: SessionState) => Promise<Result | null>,
): Promise<Result> {
  let current = state
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const done = await step(current)
    if (done !== null) return done
    const seen = current.user.version
    current = await readProfile(ports, principal)
    if (current.user.version === seen) throw new AuthError(refusal)
  }
  throw new AuthError('busy', { retryAfterSeconds: 1 })
}
