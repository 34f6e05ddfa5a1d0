import type { AuditEvent } from '../model/audit-event.js'
import type { OneTimePurpose, OneTimeToken } from '../model/one-time-token.js'
import type { OutboxMail } from '../model/outbox-mail.js'
import { expiredAtOnce } from './devices.js'
import { writeMail } from './outbox.js'
import { Refused } from './refused.js'
import type { OneTimeTokensTable } from './rows.js'
import { type Places, surplusTokens } from './surplus.js'
import { oneTimeTokens } from './tables.js'
import type { Query, Steps, Unit } from './unit.js'

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

const newestFirst = { created_at: -1, ordinal: -1 } as const

export function createOneTimeTokens(steps: Steps): OneTimeTokens {
  return {
    ...findTokens(steps),

    put: (token, mail, { audit, ...places }) =>
      steps.transaction(async (unit) => {
        await keepToken(unit, token, places)
        if (mail) await writeMail(unit, mail)
        if (audit) unit.audit(audit)
      }),

    countTry: (id, limit) => steps.write(oneTimeTokens, { query: { id, tries: { lt: limit } }, raise: ['tries'] }),

    renew: (id, { tokenHash, codeHash, expiresAt }, mail, { now, audit }) =>
      steps.transaction(async (unit) => {
        const row = await unit.get(oneTimeTokens, { id })
        if (!row || row.expires_at <= now) return false
        const renewed = { token_hash: tokenHash, code_hash: codeHash, expires_at: expiresAt, tries: 0 }
        await unit.put(oneTimeTokens, { ...row, ...renewed })
        await writeMail(unit, mail)
        unit.audit(audit)
        return true
      }),

    claim: (id, from, to, now) =>
      steps.write(oneTimeTokens, {
        query: { id, purpose: from, expires_at: { gt: now } },
        set: { purpose: to, payload: null },
      }),

    reseal: (id, payload, { purpose, tries, now, audit }) =>
      steps.transaction(async (unit) => {
        const row = await unit.get(oneTimeTokens, { id })
        if (!row || row.purpose !== purpose || row.tries !== tries || row.expires_at <= now) return false
        await unit.put(oneTimeTokens, { ...row, payload, tries: tries + 1 })
        if (audit) unit.audit(audit)
        return true
      }),

    async note(id, payload) {
      await steps.write(oneTimeTokens, { query: { id }, set: { payload } })
    },

    prune: (now, limit) =>
      steps.removeDue(oneTimeTokens, { expires_at: { lte: now } }, { sort: { expires_at: 1 }, limit }),
  }
}

function findTokens(steps: Steps): Pick<OneTimeTokens, 'findByHash' | 'listByHandle' | 'listByEmail' | 'listByUser'> {
  async function live(purpose: OneTimePurpose, now: number, query: Query): Promise<OneTimeToken[]> {
    const all = { ...query, purpose, expires_at: { gt: now } }
    const rows = await steps.glance((view) => view.find(oneTimeTokens, all, { sort: newestFirst }))
    return rows.map(toToken)
  }
  return {
    findByHash: async (purpose, hashes, now) => (await live(purpose, now, { token_hash: { in: hashes } }))[0] ?? null,
    listByHandle: (purpose, handleHashes, now) => live(purpose, now, { handle_hash: { in: handleHashes } }),
    listByEmail: (purpose, email, now) => live(purpose, now, { email }),
    listByUser: (purpose, userId, now) => live(purpose, now, { user_id: userId }),
  }
}

/** The part of `put` that is about tokens, for steps of another noun. */
export async function keepToken(
  unit: Unit,
  token: OneTimeToken,
  { now, ...places }: Places & { now: number },
): Promise<void> {
  const sharedBy = places.sharedBy ?? 'subject'
  // No row stands for "the tokens of this subject", so steps that put one at the same time wait for each other by name.
  await unit.alone(`latchkey:${token.purpose}:${token[sharedBy]}`)
  // Sooner than housekeeping: abandoned tokens hold addresses and hashes.
  const expired = await unit.find(oneTimeTokens, { expires_at: { lte: now } }, { limit: expiredAtOnce, lock: true })
  const query = { [sharedBy]: token[sharedBy], purpose: token.purpose }
  const others = await unit.find(oneTimeTokens, query, { sort: newestFirst })
  const live = others.filter(({ expires_at }) => expires_at > now)
  const over = others.filter(({ expires_at }) => expires_at <= now)
  // The new row first: its foreign key locks the user, as every other step does before it takes a token.
  await unit.put(oneTimeTokens, toTokenRow(token, unit))
  await unit.remove(oneTimeTokens, [...new Set([...expired, ...over]), ...surplusTokens(live, token, places)])
}

/**
 * The token of a user, which is not locked yet: the user's row is locked before it. The owner of a token never changes.
 *
 * @throws {Refused} when there is no such token
 */
export async function requireOwned(
  unit: Unit,
  id: string,
  purpose: OneTimePurpose,
): Promise<OneTimeTokensTable & { user_id: string }> {
  const [row] = await unit.find(oneTimeTokens, { id, purpose })
  if (!row || row.user_id === null) throw new Refused()
  return { ...row, user_id: row.user_id }
}

/**
 * Uses the token up: of concurrent steps that hold it, one goes on, and the others undo all they did.
 *
 * @throws {Refused} when it is gone or expired
 */
export async function consumeToken(
  unit: Unit,
  id: string,
  { purpose, now, userId }: { purpose: OneTimePurpose; now: number; userId?: string },
): Promise<void> {
  const row = await unit.get(oneTimeTokens, { id })
  if (!row || row.purpose !== purpose || row.expires_at <= now) throw new Refused()
  if (userId !== undefined && row.user_id !== userId) throw new Refused()
  await unit.remove(oneTimeTokens, [row])
}

/** Whether a user has a token of this purpose that has not expired. */
export async function hasToken(
  unit: Unit,
  userId: string,
  { purpose, now }: { purpose: OneTimePurpose; now: number },
): Promise<boolean> {
  const live = { user_id: userId, purpose, expires_at: { gt: now } }
  return (await unit.find(oneTimeTokens, live, { limit: 1 })).length > 0
}

/** Which one-time tokens of the account are dropped. */
export type DroppedTokens = 'all' | 'all_but_undos' | 'all_but_undos_and_deletion' | readonly OneTimePurpose[]

/** What `all_but_undos_and_deletion` keeps: what an administrator does to an account that waits for its deletion must not end the wait. */
const keptWithDeletion: readonly OneTimePurpose[] = ['email_undo', 'account_deletion']

/**
 * Whether a token of that purpose is dropped. An undo of an address change stays unless it is named: an attacker who has
 * taken the account over can reset its password, and must not remove the undo that way.
 */
export function isDropped(dropped: DroppedTokens, purpose: OneTimePurpose): boolean {
  if (dropped === 'all') return true
  if (dropped === 'all_but_undos') return purpose !== 'email_undo'
  if (dropped === 'all_but_undos_and_deletion') return !keptWithDeletion.includes(purpose)
  return dropped.includes(purpose)
}

/** The user's tokens that must not outlive a step of another noun. */
export async function dropTokens(unit: Unit, userId: string, dropped: DroppedTokens): Promise<void> {
  if (typeof dropped !== 'string') {
    return unit.drop(oneTimeTokens, { user_id: userId, purpose: { in: dropped } })
  }
  const rows = await unit.find(oneTimeTokens, { user_id: userId })
  await unit.remove(
    oneTimeTokens,
    rows.filter(({ purpose }) => isDropped(dropped, purpose)),
  )
}

/** Every step that gives an address to an account ends the registrations that wait for it. */
export function dropRegistrations(unit: Unit, email: string): Promise<void> {
  return unit.drop(oneTimeTokens, { email, purpose: 'registration' })
}

export function toTokenRow(token: OneTimeToken, unit: { ordinal(): number }): OneTimeTokensTable {
  return {
    id: token.id,
    ordinal: unit.ordinal(),
    purpose: token.purpose,
    subject: token.subject,
    user_id: token.userId,
    email: token.email,
    token_hash: token.tokenHash,
    code_hash: token.codeHash,
    handle_hash: token.handleHash,
    payload: token.payload,
    tries: token.tries,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
  }
}

function toToken(row: OneTimeTokensTable): OneTimeToken {
  return {
    id: row.id,
    purpose: row.purpose,
    subject: row.subject,
    userId: row.user_id,
    email: row.email,
    tokenHash: row.token_hash,
    codeHash: row.code_hash,
    handleHash: row.handle_hash,
    payload: row.payload,
    tries: Number(row.tries),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
  }
}
