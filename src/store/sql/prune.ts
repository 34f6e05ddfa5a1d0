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
 * Deletes what `find` finds; returns how many. Two small statements: MySQL deletes by no limited subquery. What is due
 * stays due, so that nothing can happen to it in between but that somebody else deletes it.
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
