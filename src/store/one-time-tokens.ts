import type { AuditEvent } from '../model/audit-event.js'
import type { OneTimePurpose, OneTimeToken } from '../model/one-time-token.js'
import type { OutboxMail } from '../model/outbox-mail.js'

/** Anything mailed or typed once. Digests come as lists, one for each encryption key that may have made them. */
export interface OneTimeTokens {
  /**
   * Keeps the token and its mail, if any, in one step, and drops the oldest of the same purpose and subject beyond `keep`, and
   * expired ones: all of that purpose and subject, and others as it finds them. Exact under concurrency.
   */
  put(
    token: OneTimeToken,
    mail: OutboxMail | null,
    options: { keep: number; now: number; audit?: AuditEvent },
  ): Promise<void>

  /** The live token with one of these digests, or null. Does not consume it. */
  findByHash(purpose: OneTimePurpose, tokenHashes: readonly string[], now: number): Promise<OneTimeToken | null>

  /** All live tokens with one of these digests of the handle that a browser holds, newest first. */
  listByHandle(purpose: OneTimePurpose, handleHashes: readonly string[], now: number): Promise<OneTimeToken[]>

  /** All live tokens for that address, newest first. */
  listByEmail(purpose: OneTimePurpose, email: string, now: number): Promise<OneTimeToken[]>

  /** Counts one guess against the token; false when it already had `limit` of them or is gone. Exact under concurrency. */
  countTry(id: string, limit: number): Promise<boolean>

  /**
   * Gives a live token new secrets, a new end, all its guesses and a new mail; its old link and code are dead.
   * False, and nothing changed, when it is gone or expired.
   */
  renew(
    id: string,
    secrets: Pick<OneTimeToken, 'tokenHash' | 'codeHash' | 'expiresAt'>,
    mail: OutboxMail,
    options: { now: number; audit: AuditEvent },
  ): Promise<boolean>

  /**
   * Gives a live token of purpose `from` the purpose `to` and takes what was sealed in it. Of concurrent calls, exactly one
   * is true; false, and nothing changed, when it is gone, expired or of another purpose.
   */
  claim(id: string, from: OneTimePurpose, to: OneTimePurpose, now: number): Promise<boolean>

  /** Seals something into a token, in place of what there was; nothing happens when it is gone. */
  note(id: string, payload: string): Promise<void>

  /** Drops up to `count` expired tokens; returns how many. */
  prune(now: number, count: number): Promise<number>
}
