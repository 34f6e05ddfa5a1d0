import type { Kysely, Selectable } from 'kysely'
import type { ApiTokenRecord } from '../../model/api-token.js'
import { toApiToken, toApiTokenRow } from '../api-token-rows.js'
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

    rotate: ({ id, successor, expiresAt, endsAt, now }, { until, audit }) =>
      steps.transaction(async (unit) => {
        // Decides: whoever names the successor first has replaced the token.
        const { numUpdatedRows } = await unit.db
          .updateTable('latchkey_api_tokens')
          .set({ replaced_by: successor.id })
          .where('id', '=', id)
          .where('replaced_by', 'is', null)
          .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
          .executeTakeFirst()
        const former = numUpdatedRows === 0n ? undefined : await readRow(unit, id)
        if (!former) return null

        const token: ApiTokenRecord = {
          ...toApiToken(former),
          ...successor,
          ...(expiresAt === undefined ? {} : { expiresAt }),
          lastUsedAt: null,
          replacedBy: null,
        }
        await unit.db.insertInto('latchkey_api_tokens').values(toApiTokenRow(token)).execute()
        await endBy(unit.db, id, endsAt)
        await writeAudit(unit, audit)
        await writeChanges(unit, 'api_token', [id], until)
        return token
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

/** A token that would have ended sooner still does. */
async function endBy(db: Kysely<Tables>, id: string, endsAt: number): Promise<void> {
  await db
    .updateTable('latchkey_api_tokens')
    .set({ expires_at: endsAt })
    .where('id', '=', id)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', endsAt)]))
    .execute()
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
