import type { AuditEvent } from '../model/audit-event.js'
import type { PasskeyProof } from '../model/factors/passkey.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import type { FactorProof, SecondStep } from '../model/second-factor.js'
import type { ImpersonatedSession, Session, SessionMode } from '../model/session.js'
import type { UserRecord } from '../model/user.js'

/** A verifier saw a token of this rotation that long ago. */
export interface Proof {
  sessionId: string
  counter: number
  /** Milliseconds since the first sight, by the monotonic clock of the process that saw it. */
  ageMs: number
}

/** A session as stored now, with its user and the store's clock at that moment. */
export interface SessionState {
  session: Session
  user: UserRecord
  /** Milliseconds of the store's clock: the only clock that `provenAtMs` may be compared with. */
  storeNowMs: number
}

/** A live session in the list of all, with its user's address as typed. */
export interface RecentSession {
  session: Session
  email: string
}

export interface Rotation {
  sessionId: string
  /** The session must belong to this user and have this mode. The token is not trusted beyond its signature. */
  userId: string
  mode: SessionMode
  /** The counter that must still be the current one; it becomes `counter + 1`. */
  counter: number
  /** `iat` and `exp` of the successor; it expires no later than the session. */
  issuedAt: number
  expiresAt: number
  /** A proof of `counter` must be at least this old by the store's clock, unless counter is 0. */
  provenForMs: number
  now: number
}

export interface OpenSessions {
  maxSessions: number
  /** Until when (Unix seconds) an access token of the sessions that end for it could still be valid. */
  until: number
  /** A notice that is sent if and only if the session opened. */
  mail?: OutboxMail
  secondStep?: SecondStep
  /** What proves the user without a first step: the signature of a passkey. It is used up as a second step's is. */
  proof?: PasskeyProof
}

/** A session that takes the place of another one of its user. */
export interface Replacement {
  /** It must still be live, and no impersonated one. */
  fromSessionId: string
  session: Session
  /** The user's version when the proof was checked. */
  version: number
  /** Used up in the same step; null: the proof was a password. */
  proof: FactorProof | null
  /** Until when (Unix seconds) an access token of the former session could still be valid. */
  until: number
  audit: AuditEvent
}

export interface EndSessions {
  /** Until when (Unix seconds) an access token of them could still be valid. */
  until: number
  audit: AuditEvent
  /** A notice that is sent if and only if a session ended. */
  mail?: OutboxMail
}

export interface EndOne extends EndSessions {
  /** The session itself, when an administrator acts for the user in it. Its end is recorded, and its notice is due. */
  impersonated?: ImpersonatedSession | null
}

/** What must still be so when an administrator begins to act for a user. */
export interface Impersonation {
  /** The user's version. */
  version: number
  /** The administrator's version; it becomes one more. */
  actorVersion: number
  /** Until when (Unix seconds) an access token of the administrator could still be valid. */
  until: number
  audit: AuditEvent
  /** The notice for the user, held until the latest end. */
  mail?: OutboxMail
}

/**
 * Sign-ins. Every verb that ends one also writes its change row, last in the same transaction.
 *
 * Whatever ends an impersonated session, a change of the account too, writes `impersonation_stopped` in the same step and makes
 * the notice to the user due.
 */
export interface Sessions {
  /**
   * Starts the session, sets the user's last login, drops the user's pending password resets and ends the oldest live
   * sessions beyond `maxSessions`, also under concurrent sign-ins. Impersonated ones do not count and stay. May forget
   * sessions that expired so long ago that none of their access tokens is valid. With a second step, it uses up the
   * challenge and its proof; with a proof alone, that one.
   * False, and nothing changed, when the user is gone, disabled or no longer at `version`, or when challenge or proof is
   * used up or expired: of concurrent calls with one of them, exactly one is true.
   */
  open(session: Session, version: number, limit: OpenSessions, audit: AuditEvent): Promise<boolean>

  /**
   * Ends a session of the user and starts another in its place. Every other session stays, and so does the last login.
   * False, and nothing changed, when the user is gone, disabled or no longer at `version`, when the former session is over, or
   * when the proof is used up: of concurrent calls for one session, exactly one is true.
   */
  replace(replacement: Replacement): Promise<boolean>

  /**
   * Starts a session in which an administrator acts for the user, who stays as they are: last login, pending resets and other
   * sessions. The administrator's own session is over in the same step: its row stays expired, so that removing it ends the new
   * session. The administrator's version rises, so no access token of that session is valid any more.
   * False, and nothing changed, when one of the two is gone, disabled or at another version, or when the administrator's session
   * has ended, has expired or is impersonated itself: of concurrent calls from one session, exactly one is true.
   */
  impersonate(session: ImpersonatedSession, impersonation: Impersonation): Promise<boolean>

  /** The session with its user; null when it ended. Expired sessions are returned: the flow names the reason. */
  find(id: string): Promise<SessionState | null>

  /**
   * Raises the counter in one compare-and-set statement. The statement also checks that the session is that user's, of that
   * mode and live, and that its user is enabled. The successor is unproven. Of concurrent calls exactly one gets the new
   * state, the others null.
   */
  rotate(rotation: Rotation): Promise<SessionState | null>

  /**
   * Writes proofs, as the store's clock less each age. A counter that is not current or already proven is left alone.
   * Every proof moves `lastSeenAt` forward, never back. Ended sessions are skipped.
   */
  prove(proofs: readonly Proof[]): Promise<void>

  /** The user's live sessions, newest sign-in first. */
  list(userId: string, now: number): Promise<Session[]>

  /**
   * The live sessions of all users, newest sign-in first; those of the same second by descending id. `after` is the last
   * one of the previous page.
   */
  recent(filter: {
    after: { createdAt: number; id: string } | null
    limit: number
    now: number
  }): Promise<RecentSession[]>

  /**
   * How many live sessions there are, by the index of `refreshExpiresAt`, which is never later than `expiresAt`. Null where the
   * store would have to read them all.
   */
  count(now: number): Promise<number | null>

  /** Up to `count` impersonated sessions, the oldest first, also those that expired. */
  impersonated(count: number): Promise<ImpersonatedSession[]>

  /** Ends one session, expired or not; with `userId`, only that user's. Of concurrent calls exactly one is true. */
  end(id: string, userId: string | null, options: EndOne): Promise<boolean>

  /** Ends all of the user's sessions except `exceptId`; returns how many. If none ends, no audit event is written. */
  endAll(userId: string, exceptId: string | null, options: EndSessions): Promise<number>

  /**
   * Forgets up to `count` sessions whose last refresh was possible before that moment (Unix seconds); returns how many. It
   * writes no change rows, so the moment must be so long ago that none of their access tokens is valid.
   */
  prune(before: number, count: number): Promise<number>
}
