import type { AuditEvent } from '../model/audit-event.js'
import type { OneTimePurpose, OneTimeToken } from '../model/one-time-token.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import type { Places } from './surplus.js'

export interface PutOptions extends Places {
  now: number
  audit?: AuditEvent
}

export interface ResealOptions {
  purpose: OneTimePurpose
  tries: number
  now: number
  audit?: AuditEvent
}

/** Secrets that are mailed or typed once. Digests come as lists, one for each encryption key that may have made them. */
export interface OneTimeTokens {
  /**
   * Keeps the token and its mail, if any, in one step. Drops the tokens of the same purpose beyond `keep`, all expired ones
   * beside them, and other expired ones as it finds them. Exact under concurrency.
   */
  put(token: OneTimeToken, mail: OutboxMail | null, options: PutOptions): Promise<void>

  /** The live token with one of these digests, or null. Does not consume it. */
  findByHash(purpose: OneTimePurpose, tokenHashes: readonly string[], now: number): Promise<OneTimeToken | null>

  /** All live tokens with one of these digests of the handle that a browser holds, newest first. */
  listByHandle(purpose: OneTimePurpose, handleHashes: readonly string[], now: number): Promise<OneTimeToken[]>

  /** All live tokens for that address, newest first. */
  listByEmail(purpose: OneTimePurpose, email: string, now: number): Promise<OneTimeToken[]>

  /** All live tokens of that user, newest first. */
  listByUser(purpose: OneTimePurpose, userId: string, now: number): Promise<OneTimeToken[]>

  /** Counts one guess against the token; false when it already had `limit` of them or is gone. Exact under concurrency. */
  countTry(id: string, limit: number): Promise<boolean>

  /**
   * Gives a live token new secrets, a new end, all its guesses and a new mail. Its old link and code are invalid.
   * False, and nothing changed, when it is gone or expired.
   */
  renew(
    id: string,
    secrets: Pick<OneTimeToken, 'tokenHash' | 'codeHash' | 'expiresAt'>,
    mail: OutboxMail,
    options: { now: number; audit: AuditEvent },
  ): Promise<boolean>

  /**
   * Changes the purpose of a live token from `from` to `to` and removes its sealed payload. Of concurrent calls, exactly one
   * is true. False, and nothing changed, when the token is gone, expired or of another purpose.
   */
  claim(id: string, from: OneTimePurpose, to: OneTimePurpose, now: number): Promise<boolean>

  /**
   * Seals a new payload into a live token that had `tries` so far, counts one more and records the event, in one step. Of
   * concurrent calls with the same `tries`, exactly one is true. False, and nothing changed, when the token is gone, expired,
   * of another purpose or had more tries.
   */
  reseal(id: string, payload: string, options: ResealOptions): Promise<boolean>

  /** Seals a payload into a token, in place of the former one. Does nothing if the token is gone. */
  note(id: string, payload: string): Promise<void>

  /** Drops up to `count` expired tokens; returns how many. */
  prune(now: number, count: number): Promise<number>
}
