import type { Transaction } from 'kysely'
import type { Change } from '../../../model/change.js'
import { toChange } from '../../changes.js'
import { Refused } from '../../refused.js'
import type { Flavour } from './flavour.js'
import { parts } from './parts.js'
import type { Tables } from './schema.js'

/** A change row that a step has yet to write. */
export type PendingChange = Pick<Change, 'kind' | 'subject' | 'until' | 'version'>

/**
 * Writes the change rows of a step, dated by the store's clock at the insert, and returns them. It is the last write of the
 * transaction, so that the rows are as young as possible at the commit.
 *
 * @throws {Refused} for an id that ends with a blank: MySQL finds the row without the blank (PAD SPACE), but no process would
 * match a change row that names the id with it
 */
export async function insertChanges(
  { db, flavour, randomId }: { db: Transaction<Tables>; flavour: Flavour; randomId(): string },
  pending: readonly PendingChange[],
): Promise<Change[]> {
  if (pending.some(({ subject }) => subject.endsWith(' '))) throw new Refused()
  const written: Change[] = []
  for (const part of parts(pending)) {
    const rows = part.map(({ kind, subject, version, until }) => ({
      id: randomId(),
      at_ms: flavour.storeNowMs(),
      kind,
      subject,
      version,
      matters_until: until,
    }))
    await db.insertInto('latchkey_changes').values(rows).execute()
    const ids = rows.map(({ id }) => id)
    const stored = await db.selectFrom('latchkey_changes').selectAll().where('id', 'in', ids).execute()
    // In the order of the step: the database returns them in that of their random ids.
    stored.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
    written.push(...stored.map(toChange))
  }
  return written
}
