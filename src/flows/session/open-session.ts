import { AuthError, type ErrorCode } from '../../errors.js'
import type { Device } from '../../model/device-approval.js'
import { sameFactors } from '../../model/factors/kinds.js'
import type { PasskeyProof } from '../../model/factors/passkey.js'
import type { SecondStep } from '../../model/second-factor.js'
import type { Session, SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import { signedInVisitor, type Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { auditEvent } from '../steps/audit.js'
import { type DevicePorts, findDevice, isKnownPlace, rememberDevice } from '../steps/devices.js'
import { changeMattersUntil, type IssuedSession, issueTokens } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { ignoreAuthError, runHook } from '../steps/run-hook.js'

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

type LoginHookPorts = Pick<Ports, 'users' | 'sessions' | 'audit' | 'clock' | 'random' | 'policy' | 'hooks'>

interface Arrived {
  user: UserRecord
  method: string
  visitor: Visitor
}

/**
 * Runs the hook and returns the user as proved. A stronger hash of the same password may just have replaced the old one, which
 * raises no version. So the account is read before the hook can raise it, and compared with that state later.
 *
 * @throws {AuthError} as `runHook`
 */
async function beforeLogin(ports: LoginHookPorts, { user, method, visitor }: Arrived): Promise<UserRecord> {
  if (!ports.hooks.beforeLogin) return user
  const found = await ports.users.findById(user.id)
  const proved = found?.version === user.version ? found : user
  await runHook(ports, 'beforeLogin', { user: proved, method, visitor }).catch((refusal) =>
    refuseLogin(ports, { userId: user.id, method, visitor }, refusal),
  )
  return proved
}

/**
 * Runs the hook and returns the user with its changes, because tokens with former roles would be revoked at once.
 *
 * @throws {AuthError} as `runHook`; `invalid_credentials` when the hook has ended the session
 */
async function afterLogin(ports: LoginHookPorts, session: Session, arrived: Arrived): Promise<UserRecord> {
  const { user, method, visitor } = arrived
  if (!ports.hooks.afterLogin) return user
  try {
    await runHook(ports, 'afterLogin', arrived)
  } catch (refusal) {
    await endRefused(ports, session, visitor)
    return refuseLogin(ports, { userId: user.id, method, visitor }, refusal)
  }
  const state = await ignoreAuthError<{ user: UserRecord } | null>(ports.sessions.find(session.id), { user })
  if (state) return state.user
  return refuseLogin(ports, { userId: user.id, method, visitor }, new AuthError('invalid_credentials'))
}

/** Ends the refused session. Its tokens were never sent, so it must not appear in the user's list of sessions. */
async function endRefused(ports: LoginHookPorts, { id, userId }: Session, visitor: Visitor): Promise<void> {
  const detail = { reason: 'hook' }
  const audit = auditEvent(ports, 'session_revoked', visitor, { userId, sessionId: id, detail })
  await ports.sessions.end(id, null, { until: changeMattersUntil(ports), audit })
}

const attempts = 3

/**
 * Takes a step for an account whose user has just been proved. If a role or a name has changed since, by a hook for example,
 * the step is repeated with the current account, but only while everything that the proof rests on is unchanged. A proof by
 * a former password counts no more.
 *
 * @param step False when it was refused, as for an account that is disabled or at another version.
 * @returns The account that the step was taken for; null when it was refused.
 */
async function atVersionProved(
  ports: Pick<Ports, 'users'>,
  proved: UserRecord,
  step: (current: UserRecord) => Promise<boolean>,
): Promise<UserRecord | null> {
  let current = proved
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (await step(current)) return current
    const found = await ports.users.findById(proved.id)
    if (!found || found.version === current.version || !provesStill(proved, found)) return null
    current = found
  }
  return null
}

/** Whether password (and that it counts), mailbox, identities at providers and required second factors are unchanged. */
function provesStill(was: UserRecord, is: UserRecord): boolean {
  return (
    is.passwordHash === was.passwordHash &&
    is.emailCanonical === was.emailCanonical &&
    is.emailVerified === was.emailVerified &&
    is.mustReset === was.mustReset &&
    sameFactors(was, is) &&
    was.identities.every((linked) =>
      is.identities.some(({ provider, linkedAt }) => provider === linked.provider && linkedAt === linked.linkedAt),
    )
  )
}

/**
 * Records a refused sign-in, at whichever step, and rethrows (ASVS 5.0, 16.3.1). A failure on our side is no refusal, so only
 * the log reports it. Each request writes one event, as for a wrong password, so the limits per IP bound these alike.
 */
export async function refuseLogin(
  ports: Pick<Ports, 'audit' | 'clock' | 'random'>,
  { userId, method, visitor }: { userId: string | null; method: string | null; visitor: Visitor },
  refusal: unknown,
): Promise<never> {
  if (refusal instanceof AuthError && (refusal.status < 500 || refusal.code === 'hook_failed')) {
    const detail = { ...(method !== null && { method }), reason: refusal.code }
    const facts = { userId, outcome: 'failure', detail } as const
    await ports.audit.record(auditEvent(ports, 'login', visitor, facts))
  }
  throw refusal
}
