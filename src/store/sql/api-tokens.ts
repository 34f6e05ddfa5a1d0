import type { Kysely, Selectable } from 'kysely'
import { rotatedToken, toApiToken, toApiTokenRow } from '../api-token-rows.js'
import type { ApiTokens, ApiTokenUse } from '../api-tokens.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import { parts } from './engine/parts.js'
import type { ApiTokensTable, Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { prune } from './prune.js'

export function createApiTokens(steps: Steps): ApiTokens {
  return { ...readApiTokens(steps), ...changeApiTokens(steps), ...useApiTokens(steps) }
}

function readApiTokens(steps: Steps): Pick<ApiTokens, 'findByHash' | 'list'> {
  return {
    async findByHash(tokenHashes) {
      if (tokenHashes.length === 0) return null
      const row = await steps.step((db) =>
        db.selectFrom('latchkey_api_tokens').selectAll().where('token_hash', 'in', tokenHashes).executeTakeFirst(),
      )
      return row ? toApiToken(row) : null
    },

    list: ({ after, limit }) =>
      steps.step(async (db) => {
        let rows = db.selectFrom('latchkey_api_tokens').selectAll()
        if (after !== null) {
          const { createdAt, id } = after
          rows = rows.where((eb) =>
            eb.or([eb('created_at', '<', createdAt), eb.and([eb('created_at', '=', createdAt), eb('id', '<', id)])]),
          )
        }
        const found = await rows.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
        return found.map(toApiToken)
      }),
  }
}

function changeApiTokens(steps: Steps): Pick<ApiTokens, 'create' | 'remove' | 'rotate'> {
  return {
    create: (token, audit) =>
      steps.transaction(async (unit) => {
        await unit.db.insertInto('latchkey_api_tokens').values(toApiTokenRow(token)).execute()
        await writeAudit(unit, audit)
      }),

    remove: (id, { until, audit }) =>
      steps.transaction(async (unit) => {
        const { numDeletedRows } = await unit.db
          .deleteFrom('latchkey_api_tokens')
          .where('id', '=', id)
          .executeTakeFirst()
        if (numDeletedRows === 0n) return false
        await writeAudit(unit, audit)
        await writeChanges(unit, 'api_token', [id], until)
        return true
      }, false),

    rotate: (replacement, { until, audit }) =>
      steps.transaction(async (unit) => {
        const { id, now } = replacement
        // This write decides: of concurrent rotations, the first to name its successor replaces the token.
        const { numUpdatedRows } = await unit.db
          .updateTable('latchkey_api_tokens')
          .set({ replaced_by: replacement.successor.id })
          .where('id', '=', id)
          .where('replaced_by', 'is', null)
          .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
          .executeTakeFirst()
        const former = numUpdatedRows === 0n ? undefined : await readRow(unit, id)
        if (!former) return null

        const { successor, formerEndsAt } = rotatedToken(toApiToken(former), replacement)
        await unit.db.insertInto('latchkey_api_tokens').values(toApiTokenRow(successor)).execute()
        await unit.db
          .updateTable('latchkey_api_tokens')
          .set({ expires_at: formerEndsAt })
          .where('id', '=', id)
          .execute()
        await writeAudit(unit, audit)
        await writeChanges(unit, 'api_token', [id], until)
        return successor
      }, null),
  }
}

function useApiTokens(steps: Steps): Pick<ApiTokens, 'touch' | 'prune'> {
  return {
    async touch(uses) {
      for (const [at, ids] of byTime(uses)) {
        for (const part of parts(ids)) await steps.step((db) => writeUses(db, part, at), 'repeatable')
      }
    },

    prune: (before, count) =>
      prune(steps, 'latchkey_api_tokens', (db) =>
        db
          .selectFrom('latchkey_api_tokens')
          .select('id')
          .where('expires_at', '<', before)
          .orderBy('expires_at')
          .limit(count)
          .execute(),
      ),
  }
}

function readRow({ db }: Unit, id: string): Promise<Selectable<ApiTokensTable> | undefined> {
  return db.selectFrom('latchkey_api_tokens').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Which tokens were used at a time; their ids in one order everywhere, so that two batches seldom wait for each other. */
function byTime(uses: readonly ApiTokenUse[]): Map<number, string[]> {
  const times = new Map<number, string[]>()
  for (const { id, at } of uses) {
    const ids = times.get(at)
    if (ids) ids.push(id)
    else times.set(at, [id])
  }
  for (const ids of times.values()) ids.sort()
  return times
}

/** A statement of its own: the row of a token must not stay locked while others are written, as it may be to be removed. */
async function writeUses(db: Kysely<Tables>, ids: readonly string[], at: number): Promise<void> {
  await db
    .updateTable('latchkey_api_tokens')
    .set({ last_used_at: at })
    .where('id', 'in', ids)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', at)]))
    .execute()
}
