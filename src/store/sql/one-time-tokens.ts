import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { OneTimePurpose, OneTimeToken } from '../../model/one-time-token.js'
import { type DroppedTokens, keptWithDeletion } from '../account-losses.js'
import { toToken, toTokenRow } from '../one-time-token-rows.js'
import type { OneTimeTokens } from '../one-time-tokens.js'
import { Refused } from '../refused.js'
import { type Places, surplusTokens } from '../surplus.js'
import { writeAudit } from './audit.js'
import type { OneTimeTokensTable, Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { writeMail } from './outbox.js'
import { prune } from './prune.js'

export function createOneTimeTokens(steps: Steps): OneTimeTokens {
  return {
    ...findTokens(steps),

    put: (token, mail, { audit, ...places }) =>
      steps.transaction(async (unit) => {
        await keepToken(unit, token, places)
        if (mail) await writeMail(unit, mail)
        if (audit) await writeAudit(unit, audit)
      }),

    countTry: (id, limit) =>
      steps.step(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('latchkey_one_time_tokens')
          .set((eb) => ({ tries: eb('tries', '+', 1) }))
          .where('id', '=', id)
          .where('tries', '<', limit)
          .executeTakeFirst()
        return numUpdatedRows > 0n
      }),

    renew: (id, { tokenHash, codeHash, expiresAt }, mail, { now, audit }) =>
      steps.transaction(async (unit) => {
        const { numUpdatedRows } = await unit.db
          .updateTable('latchkey_one_time_tokens')
          .set({ token_hash: tokenHash, code_hash: codeHash, expires_at: expiresAt, tries: 0 })
          .where('id', '=', id)
          .where('expires_at', '>', now)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        await writeMail(unit, mail)
        await writeAudit(unit, audit)
        return true
      }),

    ...reusedTokens(steps),

    prune: (now, count) =>
      prune(steps, 'latchkey_one_time_tokens', (db) =>
        db
          .selectFrom('latchkey_one_time_tokens')
          .select('id')
          .where('expires_at', '<=', now)
          .orderBy('expires_at')
          .limit(count)
          .execute(),
      ),
  }
}

/** Tokens that stay when they are used, with another purpose or payload. */
function reusedTokens(steps: Steps): Pick<OneTimeTokens, 'claim' | 'reseal' | 'note'> {
  return {
    claim: (id, from, to, now) =>
      steps.step(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('latchkey_one_time_tokens')
          .set({ purpose: to, payload: null })
          .where('id', '=', id)
          .where('purpose', '=', from)
          .where('expires_at', '>', now)
          .executeTakeFirst()
        return numUpdatedRows > 0n
      }),

    reseal: (id, payload, { purpose, tries, now, audit }) =>
      steps.transaction(async (unit) => {
        const { numUpdatedRows } = await unit.db
          .updateTable('latchkey_one_time_tokens')
          .set({ payload, tries: tries + 1 })
          .where('id', '=', id)
          .where('purpose', '=', purpose)
          .where('tries', '=', tries)
          .where('expires_at', '>', now)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        if (audit) await writeAudit(unit, audit)
        return true
      }),

    async note(id, payload) {
      await steps.step((db) =>
        db.updateTable('latchkey_one_time_tokens').set({ payload }).where('id', '=', id).execute(),
      )
    },
  }
}

function findTokens(steps: Steps): Pick<OneTimeTokens, 'findByHash' | 'listByHandle' | 'listByEmail' | 'listByUser'> {
  return {
    async findByHash(purpose, tokenHashes, now) {
      if (tokenHashes.length === 0) return null
      const row = await steps.step((db) =>
        db
          .selectFrom('latchkey_one_time_tokens')
          .selectAll()
          .where('purpose', '=', purpose)
          .where('token_hash', 'in', tokenHashes)
          .where('expires_at', '>', now)
          .executeTakeFirst(),
      )
      return row ? toToken(row) : null
    },

    async listByHandle(purpose, handleHashes, now) {
      if (handleHashes.length === 0) return []
      return newestFirst(steps, purpose, now, (eb) => eb('handle_hash', 'in', handleHashes))
    },

    listByEmail: (purpose, email, now) => newestFirst(steps, purpose, now, (eb) => eb('email', '=', email)),

    listByUser: (purpose, userId, now) => newestFirst(steps, purpose, now, (eb) => eb('user_id', '=', userId)),
  }
}

/** The live tokens of that purpose for which the condition holds. */
async function newestFirst(
  steps: Steps,
  purpose: OneTimePurpose,
  now: number,
  condition: (eb: ExpressionBuilder<Tables, 'latchkey_one_time_tokens'>) => Expression<SqlBool>,
): Promise<OneTimeToken[]> {
  const rows = await steps.step((db) =>
    db
      .selectFrom('latchkey_one_time_tokens')
      .selectAll()
      .where('purpose', '=', purpose)
      .where(condition)
      .where('expires_at', '>', now)
      .orderBy('created_at', 'desc')
      .orderBy('ordinal', 'desc')
      .execute(),
  )
  return rows.map(toToken)
}

/** The part of `put` that is about tokens, for steps of another noun. */
export async function keepToken(
  unit: Unit,
  token: OneTimeToken,
  { now, ...places }: Places & { now: number },
): Promise<void> {
  // No row stands for "the tokens of this subject", so steps that put one at the same time queue up by name.
  await unit.flavour.serialise(unit.db, `latchkey:${token.purpose}:${token[places.sharedBy ?? 'subject']}`)
  await dropExpired(unit, now)
  await unit.db.insertInto('latchkey_one_time_tokens').values(toTokenRow(token, unit)).execute()
  await dropSurplus(unit, token, places)
}

/** Of every subject, and sooner than housekeeping: abandoned tokens hold addresses and hashes. */
async function dropExpired(unit: Unit, now: number): Promise<void> {
  await unit.db.deleteFrom('latchkey_one_time_tokens').where('expires_at', '<=', now).execute()
}

async function dropSurplus(unit: Unit, token: OneTimeToken, places: Places): Promise<void> {
  const sharedBy = places.sharedBy ?? 'subject'
  const others = await unit.db
    .selectFrom('latchkey_one_time_tokens')
    .select(['id', 'subject', 'handle_hash', 'token_hash'])
    .where('purpose', '=', token.purpose)
    .where(sharedBy, '=', token[sharedBy])
    .where('id', '<>', token.id)
    .orderBy('created_at', 'desc')
    .orderBy('ordinal', 'desc')
    .execute()
  const ids = surplusTokens(others, token, places).map(({ id }) => id)
  if (ids.length === 0) return
  await unit.db.deleteFrom('latchkey_one_time_tokens').where('id', 'in', ids).execute()
}

/** The user and address of a token, and its place among others: by `createdAt`, then by `ordinal`. */
export interface TokenOwner {
  id: string
  email: string
  createdAt: number
  ordinal: number
}

/** The owner of a token never changes, so it may be read before the transaction, which must begin with a write. */
export async function ownerOf(steps: Steps, tokenId: string, purpose: OneTimePurpose): Promise<TokenOwner | null> {
  const token = await steps.step((db) =>
    db
      .selectFrom('latchkey_one_time_tokens')
      .select(['user_id', 'email', 'created_at', 'ordinal'])
      .where('id', '=', tokenId)
      .where('purpose', '=', purpose)
      .executeTakeFirst(),
  )
  if (!token || token.user_id === null) return null
  const { user_id: id, email, created_at, ordinal } = token
  return { id, email, createdAt: Number(created_at), ordinal: Number(ordinal) }
}

/**
 * Uses the token up. This write decides: of concurrent steps that hold the token, one deletes it and the others undo all
 * they did.
 *
 * @throws {Refused} when it is gone or expired
 */
export async function consumeToken(
  unit: Unit,
  id: string,
  { purpose, now }: { purpose: OneTimePurpose; now: number },
): Promise<void> {
  const { numDeletedRows } = await unit.db
    .deleteFrom('latchkey_one_time_tokens')
    .where('id', '=', id)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw new Refused()
}

/** The user's tokens that must not outlive a step of another noun. */
export async function dropTokens(unit: Pick<Unit, 'db'>, userId: string, dropped: DroppedTokens): Promise<void> {
  const deletion = unit.db.deleteFrom('latchkey_one_time_tokens').where('user_id', '=', userId)
  if (dropped === 'all') await deletion.execute()
  else if (dropped === 'all_but_undos') await deletion.where('purpose', '<>', 'email_undo').execute()
  else if (dropped === 'all_but_undos_and_deletion')
    await deletion.where('purpose', 'not in', keptWithDeletion).execute()
  else await deletion.where('purpose', 'in', dropped).execute()
}

export const tokenColumns = [
  'id',
  'ordinal',
  'purpose',
  'subject',
  'user_id',
  'email',
  'token_hash',
  'code_hash',
  'handle_hash',
  'payload',
  'tries',
  'created_at',
  'expires_at',
] as const satisfies readonly (keyof OneTimeTokensTable)[]
