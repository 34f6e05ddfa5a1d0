import { AuthError, invalidField } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import { requireField } from '../../documents/names.js'
import type { Indexes, IndexProgress, IndexState } from '../../ports.js'
import { visitorIn } from '../spaces/find-space.js'
import { requireDisk, toFault, withFaults } from '../spaces/store-faults.js'
import { findCollection, type NamedCollection, type OpenedSpace } from './find-collection.js'
import type { CollectionPorts } from './ports.js'

/** How far an index is built. */
export interface FieldProgress extends Pick<IndexProgress, 'processed' | 'of'> {
  field: string
}

export interface RunningBuild {
  /** Builds the indexes one after another, and reports after each page of documents. */
  run(report: (progress: FieldProgress) => void): Promise<void>
}

interface Build extends OpenedSpace {
  fields: readonly string[]
  unique: boolean
}

/** Fields of one request. */
const mostFields = 64

/**
 * Judges what indexes are to be made, one a field. `run` makes them. An index that a process which ended has left unfinished is
 * built on.
 *
 * @throws {AuthError} `space_not_found`, `not_found`, `query_invalid`, `index_exists` when all of them are there, `space_busy` when
 *   this space builds one already, `quota_exceeded`, `store_unavailable`; of `run` the same but the first two
 */
export async function createIndexes(
  ports: CollectionPorts,
  named: NamedCollection,
  { fields: sent, unique }: { fields: readonly string[]; unique: boolean },
): Promise<RunningBuild> {
  const { space, data } = await findCollection(ports, named)
  requireDisk(ports.files)
  const leave = ports.enterBuild(space.id)
  try {
    const wanted = await withFaults(async () => requireFields(sent))
    const fields = await withFaults(() => openFields(data.indexes, named.collection, { fields: wanted, unique }))
    return {
      async run(report) {
        try {
          await buildAll(ports, named, { space, data, fields, unique }, report)
        } finally {
          leave()
        }
      },
    }
  } catch (error) {
    leave()
    throw error
  }
}

function requireFields(sent: readonly string[]): string[] {
  const fields = [...new Set(sent.map(requireField))]
  if (fields.length > 0 && fields.length <= mostFields) return fields
  throw new AuthError('query_invalid', { detail: `Name 1 to ${mostFields} fields.` })
}

/** The fields whose indexes are to be built. */
async function openFields(
  indexes: Indexes,
  collection: string,
  { fields, unique }: { fields: readonly string[]; unique: boolean },
): Promise<string[]> {
  const known = await indexes.list(collection)
  const plain = known.find(({ field, isUnique }) => unique && !isUnique && fields.includes(field))
  if (plain) {
    const detail = `The index on ${plain.field} exists and is not unique. Remove it first.`
    throw new AuthError('index_exists', { detail })
  }
  const open = fields.filter((field) => isOpen(known, field, unique))
  if (open.length === 0) throw new AuthError('index_exists')
  return open
}

/** Whether an index is missing, or was left unfinished. */
function isOpen(known: readonly IndexState[], field: string, unique: boolean): boolean {
  const index = known.find((each) => each.field === field)
  return index === undefined || (index.state === 'building' && index.isUnique === unique)
}

async function buildAll(
  ports: CollectionPorts,
  { collection, visitor }: NamedCollection,
  { space, data, fields, unique }: Build,
  report: (progress: FieldProgress) => void,
): Promise<void> {
  for (const field of fields) {
    const detail = { collection, field, unique }
    const record = (outcome: 'success' | 'failure') =>
      ports.audit.record(auditEvent(ports, 'index_created', visitorIn(space, visitor), { outcome, detail }))
    try {
      // Each is begun when its turn comes, so that a failure leaves no other index unfinished.
      await data.indexes.create(collection, field, unique)
      await buildOne(data.indexes, collection, field, report)
    } catch (error) {
      await record('failure')
      throw toFault(error)
    }
    await record('success')
  }
}

async function buildOne(
  indexes: Indexes,
  collection: string,
  field: string,
  report: (progress: FieldProgress) => void,
): Promise<void> {
  for (;;) {
    const { processed, of, isReady } = await indexes.build(collection, field)
    report({ processed, of, field })
    if (isReady) return
  }
}

/**
 * Removes indexes. The documents stay.
 *
 * @throws {AuthError} `space_not_found`; `not_found` when the collection has none of these indexes; `invalid_request` unless
 *   `confirm` repeats the fields; `query_invalid`, `store_unavailable`
 */
export async function removeIndexes(
  ports: CollectionPorts,
  named: NamedCollection,
  { fields: sent, confirm }: { fields: readonly string[]; confirm: string | undefined },
): Promise<void> {
  const { collection, visitor } = named
  const { space, data } = await findCollection(ports, named)
  const fields = await withFaults(async () => requireFields(sent))
  if (confirm !== fields.join(',')) {
    throw invalidField('confirm', 'must repeat the fields, with commas between them')
  }
  let removed = 0
  for (const field of fields) {
    if (!(await withFaults(() => data.indexes.remove(collection, field)))) continue
    removed += 1
    const detail = { collection, field }
    await ports.audit.record(auditEvent(ports, 'index_removed', visitorIn(space, visitor), { detail }))
  }
  if (removed === 0) throw new AuthError('not_found', { detail: 'There is no such index.' })
}
