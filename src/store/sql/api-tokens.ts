import type { Kysely, Selectable } from 'kysely'
import type { ApiTokenRecord } from '../../model/api-token.js'
import { subjectIn } from '../../model/scope.js'
import { rotatedToken, toApiToken, toApiTokenRow } from '../api-token-rows.js'
import type { ApiTokens, ApiTokenUse } from '../api-tokens.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import { parts } from './engine/parts.js'
import type { ApiTokensTable, Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { prune } from './prune.js'

/** Each statement asks for the scope besides the id or digest, whose own index finds the row. */
export function createApiTokens(steps: Steps, scope: string): ApiTokens {
  return { ...readApiTokens(steps, scope), ...changeApiTokens(steps, scope), ...useApiTokens(steps, scope) }
}

function readApiTokens(steps: Steps, scope: string): Pick<ApiTokens, 'findByHash' | 'findAllByHash' | 'list'> {
  const find = (tokenHashes: readonly string[]) =>
    steps.step((db) =>
      db
        .selectFrom('latchkey_api_tokens')
        .selectAll()
        .where('token_hash', 'in', tokenHashes)
        .where('scope', '=', scope)
        .execute(),
    )

  return {
    async findByHash(tokenHashes) {
      if (tokenHashes.length === 0) return null
      const [row] = await find(tokenHashes)
      return row ? toApiToken(row) : null
    },

    async findAllByHash(tokenHashes) {
      const found: ApiTokenRecord[] = []
      for (const part of parts(tokenHashes)) found.push(...(await find(part)).map(toApiToken))
      return found
    },

    list: ({ after, limit }) =>
      steps.step(async (db) => {
        let rows = db.selectFrom('latchkey_api_tokens').selectAll().where('scope', '=', scope)
        if (after !== null) {
          rows = rows.where(steps.flavour.before(['created_at', 'id'], [after.createdAt, after.id]))
        }
        const found = await rows.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
        return found.map(toApiToken)
      }),
  }
}

function changeApiTokens(steps: Steps, scope: string): Pick<ApiTokens, 'create' | 'remove' | 'rotate'> {
  return {
    create: (token, audit) =>
      steps.transaction(async (unit) => {
        await unit.db.insertInto('latchkey_api_tokens').values(toApiTokenRow(token, scope)).execute()
        await writeAudit(unit, audit)
      }),

    remove: (id, { until, audit }) =>
      steps.transaction(async (unit) => {
        const { numDeletedRows } = await unit.db
          .deleteFrom('latchkey_api_tokens')
          .where('id', '=', id)
          .where('scope', '=', scope)
          .executeTakeFirst()
        if (numDeletedRows === 0n) return false
        await writeAudit(unit, audit)
        await writeChanges(unit, 'api_token', [subjectIn(scope, id)], until)
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
          .where('scope', '=', scope)
          .where('replaced_by', 'is', null)
          .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
          .executeTakeFirst()
        const former = numUpdatedRows === 0n ? undefined : await readRow(unit, id)
        if (!former) return null

        const { successor, formerEndsAt } = rotatedToken(toApiToken(former), replacement)
        await unit.db.insertInto('latchkey_api_tokens').values(toApiTokenRow(successor, scope)).execute()
        await unit.db
          .updateTable('latchkey_api_tokens')
          .set({ expires_at: formerEndsAt })
          .where('id', '=', id)
          .execute()
        await writeAudit(unit, audit)
        await writeChanges(unit, 'api_token', [subjectIn(scope, id)], until)
        return successor
      }, null),
  }
}

function useApiTokens(steps: Steps, scope: string): Pick<ApiTokens, 'touch' | 'prune'> {
  return {
    async touch(uses) {
      for (const [at, ids] of byTime(uses)) {
        for (const part of parts(ids)) await steps.step((db) => writeUses(db, { scope, ids: part, at }), 'repeatable')
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

/** The tokens of one time of use. Ids have the same order everywhere, so that two batches seldom wait for each other. */
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

/** One statement without a transaction: rows must not stay locked while others are written, because that delays a removal. */
async function writeUses(
  db: Kysely<Tables>,
  { scope, ids, at }: { scope: string; ids: readonly string[]; at: number },
): Promise<void> {
  await db
    .updateTable('latchkey_api_tokens')
    .set({ last_used_at: at })
    .where('id', 'in', ids)
    .where('scope', '=', scope)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', at)]))
    .execute()
}
