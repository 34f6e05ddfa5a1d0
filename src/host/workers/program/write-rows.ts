import { StoreError } from '../../documents/store-error.js'
import type { Documents } from '../../ports.js'
import type { ImportTask } from '../tasks.js'
import type { Tally } from './tally.js'

/** A line that is a document. */
export interface ImportRow {
  line: number
  id: string
  body: string
}

const parallelReads = 32
const exists = 'A document with this _id exists already.'

/** Writes rows at once. @throws {StoreError} what is no fault of a row */
export async function writeRows(
  documents: Documents,
  task: ImportTask,
  rows: readonly ImportRow[],
  tally: Tally,
): Promise<void> {
  if (task.dryrun) return checkRows(documents, task, rows, tally)
  const { collection, upsert } = task
  try {
    const sent = rows.map(({ id, body }) => ({ id, body }))
    const existing = await documents.putMany(collection, sent, upsert ? 'any' : 'absent')
    const refused = upsert ? [] : refusedRows(rows, existing)
    for (const { line } of refused) tally.fault(line, exists)
    tally.imported(rows.length - refused.length)
  } catch (error) {
    if (!(error instanceof StoreError) || !isOfOneRow(error)) throw error
    await writeHalves(documents, task, { rows, error }, tally)
  }
}

/** What fewer rows at once may pass: a unique index refuses one, or all have more entries in indexes than one call may change. */
async function writeHalves(
  documents: Documents,
  task: ImportTask,
  { rows, error }: { rows: readonly ImportRow[]; error: StoreError },
  tally: Tally,
): Promise<void> {
  const [only] = rows
  if (rows.length <= 1) {
    if (only) tally.fault(only.line, error.message)
    return
  }
  const middle = Math.ceil(rows.length / 2)
  await writeRows(documents, task, rows.slice(0, middle), tally)
  await writeRows(documents, task, rows.slice(middle), tally)
}

function isOfOneRow({ code }: StoreError): boolean {
  return code === 'already_exists' || code === 'query_invalid' || code === 'not_current'
}

/** The store names an `_id` once for each row that it refused. Of rows with the same one, the first may have been written. */
function refusedRows(rows: readonly ImportRow[], existing: readonly string[]): ImportRow[] {
  const left = new Map<string, number>()
  for (const id of existing) left.set(id, (left.get(id) ?? 0) + 1)
  return rows.toReversed().filter(({ id }) => {
    const count = left.get(id) ?? 0
    left.set(id, count - 1)
    return count > 0
  })
}

/** What the store would refuse of these rows by their `_id`s. Two rows with one `_id` are found within a batch only. */
async function checkRows(
  documents: Documents,
  { collection, upsert }: ImportTask,
  rows: readonly ImportRow[],
  tally: Tally,
): Promise<void> {
  const taken = upsert ? new Set<string>() : await existingIds(documents, collection, rows)
  for (const { line, id } of rows) {
    if (taken.has(id)) tally.fault(line, exists)
    else tally.imported(1)
    if (!upsert) taken.add(id)
  }
}

async function existingIds(documents: Documents, collection: string, rows: readonly ImportRow[]): Promise<Set<string>> {
  const existing = new Set<string>()
  for (let at = 0; at < rows.length; at += parallelReads) {
    const found = await Promise.all(rows.slice(at, at + parallelReads).map(({ id }) => documents.get(collection, id)))
    for (const stored of found) if (stored !== null) existing.add(stored.id)
  }
  return existing
}
