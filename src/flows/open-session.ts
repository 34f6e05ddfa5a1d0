import { AuthError } from '../errors.js'
import type { Device } from '../model/device.js'
import type { SecondStep } from '../model/second-factor.js'
import type { Session, SessionMode } from '../model/session.js'
import type { UserRecord } from '../model/user.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import { auditEvent } from './audit.js'
import { type DevicePorts, findDevice, isKnownPlace, rememberDevice } from './devices.js'
import { changeMattersUntil, type IssuedSession, issueTokens } from './issue-tokens.js'
import { notice } from './notices.js'
import { runHook } from './run-hook.js'

export type OpenSessionPorts = DevicePorts &
  Pick<Ports, 'sessions' | 'tokens' | 'mails' | 'clock' | 'random' | 'policy' | 'hooks'>

export interface SignIn {
  user: UserRecord
  mode: SessionMode
  /** How the user came, for hooks and audit: `password`, `registration`, … */
  method: string
  /** RFC 8176 */
  amr: readonly string[]
  visitor: Visitor
  /** What the browser holds of its device. */
  device: string | null
  /** Used up when the session opens. */
  secondStep?: SecondStep
}

/**
 * The last step of every way in: hooks, a new session under a new id (ASVS 5.0, 7.2.4), a notice where
 * the user has not come from before, a browser remembered, tokens.
 *
 * The user is the one that was checked: changed in between (password, roles, disabled), the session does not open.
 *
 * @throws {AuthError} `invalid_credentials` when the account changed meanwhile, `invalid_code` when it did or the second
 *   step is used up, `hook_failed`, or what a hook throws
 */
export async function openSession(ports: OpenSessionPorts, signIn: SignIn): Promise<IssuedSession> {
  const { user, visitor, secondStep } = signIn
  const hookInput = { user, method: signIn.method, visitor }
  await runHook(ports.hooks.beforeLogin, hookInput)

  const session = newSession(ports, signIn)
  const device = await findDevice(ports, signIn.device)
  const familiar = await isFamiliar(ports, signIn, device)
  const told = familiar ? {} : notice(ports, 'new-device', { user, userAgent: visitor.userAgent })
  const limit = {
    maxSessions: ports.policy.maxSessions,
    until: changeMattersUntil(ports),
    ...told,
    ...(secondStep && { secondStep }),
  }
  const audit = auditEvent(ports, 'login', visitor, {
    userId: user.id,
    sessionId: session.id,
    detail: { method: signIn.method, ...(secondStep && { secondFactor: secondStep.proof.kind }) },
  })
  const opened = await ports.sessions.open(session, user.version, limit, audit)
  if (!opened) throw new AuthError(secondStep ? 'invalid_code' : 'invalid_credentials')

  const signedIn = { ...user, lastLoginAt: session.createdAt }
  try {
    await runHook(ports.hooks.afterLogin, { ...hookInput, user: signedIn })
  } catch (refusal) {
    await endRefused(ports, session, visitor)
    throw refusal
  }
  const deviceToken = await rememberDevice(ports, user.id, signIn, device)
  return { ...(await issueTokens(ports, signedIn, session)), deviceToken }
}

/** Nobody has its tokens yet; in a list of sessions it would be somebody's that never was. */
async function endRefused(ports: OpenSessionPorts, { id, userId }: Session, visitor: Visitor): Promise<void> {
  const detail = { reason: 'hook' }
  const audit = auditEvent(ports, 'session_revoked', visitor, { userId, sessionId: id, detail })
  await ports.sessions.end(id, null, { until: changeMattersUntil(ports), audit })
}

/** Nobody is told of the first time, or of the sign-in that confirms a registration: they are at it. */
async function isFamiliar(ports: OpenSessionPorts, signIn: SignIn, device: Device | null): Promise<boolean> {
  if (signIn.user.lastLoginAt === null || signIn.method === 'registration') return true
  return isKnownPlace(ports, signIn, device)
}

/** A session that begins now, under a new id. */
export function newSession(
  ports: Pick<Ports, 'clock' | 'random' | 'policy'>,
  { user, mode, amr, visitor }: Pick<SignIn, 'user' | 'mode' | 'amr' | 'visitor'>,
): Session {
  const now = ports.clock.now()
  const expiresAt = now + ports.policy.sessionSeconds
  return {
    id: ports.random.id(),
    userId: user.id,
    mode,
    counter: 0,
    provenAtMs: null,
    refreshIssuedAt: now,
    refreshExpiresAt: Math.min(now + ports.policy.refreshTokenSeconds, expiresAt),
    amr,
    authTime: now,
    createdAt: now,
    expiresAt,
    lastSeenAt: now,
    ip: visitor.ip,
    userAgent: visitor.userAgent,
  }
}
