import type { Kysely } from 'kysely'
import type { Tables } from './engine/schema.js'
import type { Steps } from './engine/steps.js'

type Pruned =
  | 'latchkey_sessions'
  | 'latchkey_one_time_tokens'
  | 'latchkey_devices'
  | 'latchkey_api_tokens'
  | 'latchkey_outbox'
  | 'latchkey_changes'

/**
 * Deletes the rows that `find` returns; returns how many. Two small statements, because MySQL cannot delete by a limited
 * subquery. A due row stays due, so in between another process can only delete it.
 */
export async function prune(
  steps: Steps,
  table: Pruned,
  find: (db: Kysely<Tables>) => Promise<{ id: string }[]>,
): Promise<number> {
  const due = await steps.step(find)
  if (due.length === 0) return 0
  const ids = due.map(({ id }) => id)
  const { numDeletedRows } = await steps.step(
    (db) => db.deleteFrom(table).where('id', 'in', ids).executeTakeFirstOrThrow(),
    'repeatable',
  )
  return Number(numDeletedRows)
}
