import { AuthError, type ErrorCode } from '../../errors.js'
import type { Device } from '../../model/device.js'
import type { PasskeyProof } from '../../model/factors/passkey.js'
import type { SecondStep } from '../../model/second-factor.js'
import type { Session, SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import { signedInVisitor, type Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { auditEvent } from '../steps/audit.js'
import { type DevicePorts, findDevice, isKnownPlace, rememberDevice } from '../steps/devices.js'
import { ignoreAuthError } from '../steps/ignore-auth-error.js'
import { changeMattersUntil, type IssuedSession, issueTokens } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { afterLogin, beforeLogin } from './login-hooks.js'
import { refuseLogin } from './refuse-login.js'
import { atVersionProved } from './still-proved.js'

export type OpenSessionPorts = DevicePorts &
  Pick<Ports, 'users' | 'sessions' | 'tokens' | 'mails' | 'audit' | 'clock' | 'random' | 'policy' | 'hooks'>

export interface SignIn {
  user: UserRecord
  mode: SessionMode
  /** How the user signed in, for hooks and audit: `password`, `registration`, … */
  method: string
  /** RFC 8176 */
  amr: readonly string[]
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
  /** What the browser holds of a sign-in that waits for its second step. A new first step replaces it. */
  challenge?: string | null
  /** When the user proved who they are, Unix seconds. Default: now. */
  authTime?: number
  /** Used up when the session opens. */
  secondStep?: SecondStep
  /** Of a sign-in without a first step. Used up when the session opens. */
  proof?: PasskeyProof
}

/**
 * The last step of every sign-in: hooks, a new session under a new id (ASVS 5.0, 7.2.4), a notice about an unknown place, a
 * remembered browser, tokens.
 *
 * The session opens only for the user that was checked. If anything that was proved has changed since (password, address,
 * second factor, disabled), it does not open. Roles and name may change meanwhile, for example by a hook.
 *
 * @throws {AuthError} `invalid_credentials` when the account changed meanwhile, `invalid_code` when it did or the second
 *   step is used up, `invalid_passkey` when one was used or removed meanwhile, `hook_failed`, or errors of a hook
 */
export async function openSession(ports: OpenSessionPorts, signIn: SignIn): Promise<IssuedSession> {
  const { method, visitor } = signIn
  const proved = await beforeLogin(ports, signIn)
  const session = newSession(ports, signIn)
  const device = await findDevice(ports, signIn.device)
  const user = await open(ports, { ...signIn, user: proved }, { session, device })

  const arrived = { user: { ...user, lastLoginAt: session.createdAt }, method, visitor }
  const signedIn = await afterLogin(ports, session, arrived)
  const deviceToken = await ignoreAuthError(rememberDevice(ports, user.id, signIn, device), null)
  return { ...(await issueTokens(ports, signedIn, session)), deviceToken }
}

/** The user that the session has begun for. A refusal is recorded (ASVS 5.0, 16.3.1). */
async function open(
  ports: OpenSessionPorts,
  signIn: SignIn,
  { session, device }: { session: Session; device: Device | null },
): Promise<UserRecord> {
  const { user, method, visitor, secondStep, proof } = signIn
  const familiar = await isFamiliar(ports, signIn, device)
  const notices = familiar ? {} : notice(ports, 'new-device', { user, userAgent: visitor.userAgent })
  const limit = {
    maxSessions: ports.policy.maxSessions,
    until: changeMattersUntil(ports),
    ...notices,
    ...(secondStep && { secondStep }),
    ...(proof && { proof }),
  }
  const ids = { userId: user.id, sessionId: session.id }
  const audit = auditEvent(ports, 'login', signedInVisitor(visitor, ids), {
    ...ids,
    detail: { method, ...(secondStep && { secondFactor: secondStep.proof.kind }) },
  })
  const opened = await atVersionProved(ports, user, ({ version }) =>
    ports.sessions.open(session, version, limit, audit),
  )
  if (opened) return opened
  return refuseLogin(ports, { userId: user.id, method, visitor }, new AuthError(refusalOf(signIn)))
}

function refusalOf({ secondStep, proof }: SignIn): ErrorCode {
  if (proof || secondStep?.proof.kind === 'passkey') return 'invalid_passkey'
  return secondStep ? 'invalid_code' : 'invalid_credentials'
}

/** The first sign-in, and the one that confirms a registration, cause no notice, because the user expects them. */
async function isFamiliar(ports: OpenSessionPorts, signIn: SignIn, device: Device | null): Promise<boolean> {
  if (signIn.user.lastLoginAt === null || signIn.method === 'registration') return true
  return isKnownPlace(ports, signIn, device)
}

/** A session in the place of the former one: it begins now, but its user was proved when the former one says. */
export function sessionInPlace(
  ports: Parameters<typeof newSession>[0],
  { user, session: { mode, authTime } }: Pick<SessionState, 'user' | 'session'>,
  { amr, visitor }: Pick<SignIn, 'amr' | 'visitor'>,
): Session {
  return newSession(ports, { user, mode, amr, visitor, authTime })
}

/** A session that begins now, under a new id. */
export function newSession(
  ports: Pick<Ports, 'clock' | 'random' | 'policy'>,
  { user, mode, amr, visitor, authTime }: Pick<SignIn, 'user' | 'mode' | 'amr' | 'visitor' | 'authTime'>,
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
    authTime: authTime ?? now,
    createdAt: now,
    expiresAt,
    lastSeenAt: now,
    ip: visitor.ip,
    userAgent: visitor.userAgent,
    actor: null,
  }
}
