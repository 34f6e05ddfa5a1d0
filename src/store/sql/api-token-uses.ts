import type { Kysely } from 'kysely'
import type { ApiTokens, ApiTokenUse } from '../api-tokens.js'
import { parts } from './engine/parts.js'
import type { Tables } from './engine/schema.js'
import type { Steps } from './engine/steps.js'

export function noteApiTokenUses(steps: Steps, scope: string): ApiTokens['touch'] {
  return async (uses) => {
    for (const [at, ids] of byTime(uses)) {
      for (const part of parts(ids)) await steps.step((db) => writeUses(db, { scope, ids: part, at }), 'repeatable')
    }
  }
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
