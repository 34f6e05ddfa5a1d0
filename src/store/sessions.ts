import type { AuditEvent } from '../model/audit-event.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import type { SecondStep } from '../model/second-factor.js'
import type { Session, SessionMode } from '../model/session.js'
import type { UserRecord } from '../model/user.js'

/** That a verifier saw a token of this rotation, so long ago. */
export interface Proof {
  sessionId: string
  counter: number
  /** Milliseconds since the first sight, by the seeing process's own monotonic clock. */
  ageMs: number
}

/** A session as the store has it now, with its user and the store's own clock at that moment. */
export interface SessionState {
  session: Session
  user: UserRecord
  /** Milliseconds of the store's clock: the only clock that `provenAtMs` may be compared with. */
  storeNowMs: number
}

export interface Rotation {
  sessionId: string
  /** Whose session it must be, and of which mode: what the token says is not believed beyond its signature. */
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
  /** Until when (Unix seconds) an access token of those that end for it could still live. */
  until: number
  /** A notice that must go out if and only if the session opened. */
  mail?: OutboxMail
  secondStep?: SecondStep
}

export interface EndSessions {
  /** Until when (Unix seconds) an access token of them could still live. */
  until: number
  audit: AuditEvent
  /** A notice that must go out if and only if something ended. */
  mail?: OutboxMail
}

/** Sign-ins. Every verb that ends one also writes its change row, last in the same transaction. */
export interface Sessions {
  /**
   * Starts the session, sets the user's last login, drops the user's pending password resets and ends the oldest live
   * sessions beyond `maxSessions`, also where many sign in at once; may forget those that expired so long ago that no
   * access token of them lives. With a second step, uses up its challenge and its proof.
   * False, and nothing changed, when the user is gone, disabled or no longer at `version`, or when challenge or proof is
   * used up or expired: of concurrent calls with one of them, exactly one is true.
   */
  open(session: Session, version: number, limit: OpenSessions, audit: AuditEvent): Promise<boolean>

  /** The session with its user; null when it ended. Expired ones are returned: the flow names the reason. */
  find(id: string): Promise<SessionState | null>

  /**
   * Raises the counter in one compare-and-set statement that also checks that the session is that user's, of that mode,
   * and lives, and that its user is enabled;
   * the successor is unproven. Of concurrent calls exactly one gets the new state, the others null.
   */
  rotate(rotation: Rotation): Promise<SessionState | null>

  /**
   * Writes proofs, as the store's clock less each age; a counter that is not current or already proven is left alone.
   * Any of them moves `lastSeenAt`, never back. A session that ended is passed over.
   */
  prove(proofs: readonly Proof[]): Promise<void>

  /** The user's live sessions, newest sign-in first. */
  list(userId: string, now: number): Promise<Session[]>

  /** Ends one session, expired or not; with `userId`, only that user's. Of concurrent calls exactly one is true. */
  end(id: string, userId: string | null, options: EndSessions): Promise<boolean>

  /** Ends all of the user's sessions but `exceptId`; returns how many. Where none ends, nothing is audited. */
  endAll(userId: string, exceptId: string | null, options: EndSessions): Promise<number>

  /**
   * Forgets up to `count` sessions that could be refreshed for the last time before that moment (Unix seconds); returns
   * how many. Tells nobody: the moment must be so long ago that no access token of them lives.
   */
  prune(before: number, count: number): Promise<number>
}
