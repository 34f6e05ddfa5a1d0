import type { AuditEvent } from '../../../src/model/audit-event.js'
import type { PasskeyRecord } from '../../../src/model/factors/passkey.js'
import type { Totp } from '../../../src/model/factors/totp.js'
import type { Identity } from '../../../src/model/identity.js'
import type { OneTimeToken } from '../../../src/model/one-time-token.js'
import type { OutboxMail } from '../../../src/model/outbox-mail.js'
import type { BackupCode } from '../../../src/model/second-factor.js'
import type { Session } from '../../../src/model/session.js'
import type { UserRecord } from '../../../src/model/user.js'
import type { Store } from '../../../src/store/store.js'
import type { AccountStep } from '../../../src/store/users.js'
import { randomId } from '../../support/databases.js'

/** The moment at which the contract's steps happen, Unix seconds. */
export const now = 1_700_000_000

/** Until when change rows of the contract matter. */
export const until = now + 960

/** How many call at once where only some may win. */
export const crowd = 20

export function aUser(overrides: Partial<UserRecord> = {}): UserRecord {
  const id = randomId()
  const email = overrides.emailCanonical ?? `${id.toLowerCase()}@example.com`
  return {
    id,
    email,
    emailCanonical: email,
    emailVerified: false,
    verifiedBy: null,
    name: 'Ada',
    passwordHash: '$hash$1',
    roles: ['EDITOR'],
    fields: { plan: 'free' },
    version: 1,
    disabledAt: null,
    disabledUntil: null,
    disabledReason: null,
    mustReset: false,
    factors: [],
    identities: [],
    createdAt: now,
    lastLoginAt: null,
    ...overrides,
  }
}

export function randomEmail(): string {
  return `${randomId().toLowerCase()}@example.com`
}

/** A login at a provider that belongs to that user. */
export function anIdentity(userId: string, overrides: Partial<Identity> = {}): Identity {
  return { provider: 'google', subject: randomId(), userId, linkedAt: now, ...overrides }
}

export function aSession(userId: string, overrides: Partial<Session> = {}): Session {
  return {
    id: randomId(),
    userId,
    mode: 'cookie',
    counter: 0,
    provenAtMs: null,
    refreshIssuedAt: now,
    refreshExpiresAt: now + 1_000_000,
    amr: ['pwd'],
    authTime: now,
    createdAt: now,
    expiresAt: now + 5_000_000,
    lastSeenAt: now,
    ip: '192.0.2.1',
    userAgent: 'Browser/1.0',
    actor: null,
    ...overrides,
  }
}

export function aRegistration(email: string, overrides: Partial<OneTimeToken> = {}): OneTimeToken {
  const id = randomId()
  return {
    id,
    purpose: 'registration',
    subject: email,
    userId: null,
    email,
    tokenHash: `key1.${id}-token`,
    codeHash: `key1.${id}-code`,
    handleHash: `key1.${id}-handle`,
    payload: `key1.${id}-payload`,
    tries: 0,
    createdAt: now,
    expiresAt: now + 86_400,
    ...overrides,
  }
}

export function aVerification(user: UserRecord, overrides: Partial<OneTimeToken> = {}): OneTimeToken {
  return aRegistration(user.emailCanonical, {
    purpose: 'email_verification',
    subject: user.id,
    userId: user.id,
    handleHash: null,
    payload: null,
    ...overrides,
  })
}

export function aReset(user: UserRecord, overrides: Partial<OneTimeToken> = {}): OneTimeToken {
  return aVerification(user, { purpose: 'password_reset', codeHash: null, expiresAt: now + 1_800, ...overrides })
}

export function anOtp(user: UserRecord, overrides: Partial<OneTimeToken> = {}): OneTimeToken {
  return aVerification(user, { purpose: 'otp', handleHash: 'key1.handle', expiresAt: now + 600, ...overrides })
}

/** A change of that user's address to this one. */
export function aChange(user: UserRecord, email: string, overrides: Partial<OneTimeToken> = {}): OneTimeToken {
  const change = { purpose: 'email_change', email, codeHash: null, expiresAt: now + 3_600 } as const
  return aVerification(user, { ...change, ...overrides })
}

/** The undo of a change that takes that user's address away. */
export function anUndo(user: UserRecord, overrides: Partial<OneTimeToken> = {}): OneTimeToken {
  return aVerification(user, { purpose: 'email_undo', codeHash: null, expiresAt: now + 604_800, ...overrides })
}

/** The first step of a sign-in that waits for its second. */
export function aChallenge(user: UserRecord, overrides: Partial<OneTimeToken> = {}): OneTimeToken {
  return aVerification(user, { purpose: 'two_factor', codeHash: null, expiresAt: now + 300, ...overrides })
}

export function anEnrolment(user: UserRecord, overrides: Partial<OneTimeToken> = {}): OneTimeToken {
  return aVerification(user, { purpose: 'two_factor_enrolment', codeHash: null, expiresAt: now + 600, ...overrides })
}

export function aTotp(overrides: Partial<Totp> = {}): Totp {
  return { kind: 'totp', sealedSecret: 'key1.secret', lastStep: 100, enabledAt: now, ...overrides }
}

/** Backup codes whose digests are `key1.<name>`. */
export function aPasskey(userId: string, overrides: Partial<PasskeyRecord> = {}): PasskeyRecord {
  return {
    id: randomId(),
    userId,
    rpId: 'example.test',
    credentialId: randomId(),
    publicKey: 'a-cose-key',
    algorithm: -7,
    signCount: 0,
    synced: true,
    backedUp: false,
    transports: ['internal', 'hybrid'],
    aaguid: '00000000-0000-0000-0000-000000000000',
    name: 'Laptop',
    userHandle: 'handle',
    suspendedAt: null,
    createdAt: now,
    lastUsedAt: null,
    ...overrides,
  }
}

export function backupCodesOf(...names: string[]): BackupCode[] {
  return names.map((name) => ({ id: randomId(), codeHash: `key1.${name}` }))
}

export function aMail(overrides: Partial<OutboxMail> = {}): OutboxMail {
  const id = randomId()
  return {
    id,
    recipient: 'ada@example.com',
    template: 'verify',
    sealedValues: `key1.${id}-values`,
    createdAt: now,
    ...overrides,
  }
}

export function anEvent(overrides: Partial<AuditEvent> = {}): AuditEvent {
  return {
    id: randomId(),
    atMs: now * 1000,
    event: 'login',
    outcome: 'success',
    actor: null,
    userId: null,
    sessionId: null,
    ip: '192.0.2.1',
    userAgent: 'Browser/1.0',
    detail: { method: 'password', attempts: 2, known: true },
    ...overrides,
  }
}

/** Makes what goes with a change of an account, audited as that event. */
export function stepOf(event: AuditEvent['event']): (overrides?: Partial<AccountStep>) => AccountStep {
  return (overrides = {}) => ({ until, audit: anEvent({ event }), ...overrides })
}

/** A user who is in the store. */
export async function createdUser(store: Store, overrides: Partial<UserRecord> = {}): Promise<UserRecord> {
  const user = aUser(overrides)
  if (!(await store.users.create(user, anEvent({ event: 'account_created', userId: user.id })))) {
    throw new Error('The user could not be created.')
  }
  return user
}

/** A session that is in the store. */
export async function openedSession(
  store: Store,
  user: UserRecord,
  overrides: Partial<Session> = {},
): Promise<Session> {
  const session = aSession(user.id, overrides)
  const opened = await store.sessions.open(session, user.version, { maxSessions: 50, until }, anEvent())
  if (!opened) throw new Error('The session could not be opened.')
  return session
}

/** A token that is in the store. */
export async function keptToken(store: Store, token: OneTimeToken): Promise<OneTimeToken> {
  await store.oneTimeTokens.put(token, aMail(), { keep: crowd, now })
  return token
}

/** Calls that many times at once. */
export function atOnce<T>(call: (index: number) => Promise<T>, times = crowd): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => call(index)))
}

/** Everything the audit log tells, by event name, oldest first. */
export async function auditedEvents(store: Store): Promise<string[]> {
  const events = await store.audit.list({ limit: 1_000 })
  return events.map(({ event }) => event).reverse()
}

/** Everything that waits in the outbox, by id. */
export async function waitingMails(store: Store): Promise<string[]> {
  const leased = await store.outbox.lease(1_000, now + 10_000_000, 0)
  return leased.map(({ id }) => id)
}
