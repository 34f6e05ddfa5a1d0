import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { Visitor } from '../../../model/visitor.js'
import { StoreError } from '../../documents/store-error.js'
import type { SpaceRecord } from '../../store/spaces.js'
import type { Job } from '../../workers/job.js'
import type { ImportOutcome, ImportState, ImportTask } from '../../workers/tasks.js'
import { visitorIn } from '../spaces/find-space.js'
import { requireDisk, toFault } from '../spaces/store-faults.js'
import { findCollection, type NamedCollection } from './find-collection.js'
import type { CollectionPorts } from './ports.js'

export interface ImportOptions extends Pick<ImportTask, 'upsert' | 'dryrun'> {
  /** JSON lines as they arrive. When the client leaves before their end, reading must reject. */
  lines: AsyncIterable<Uint8Array>
}

/** How an import ended. */
export interface ImportEnd extends Pick<ImportOutcome, 'imported' | 'faults' | 'failed'> {
  /** Why it ended early; what was imported before stays. null: it ran to the end of the lines. */
  error: AuthError | null
}

export interface RunningImport {
  /** Runs it to its end, and reports how far it is after each batch. */
  run(report: (state: ImportState) => void): Promise<ImportEnd>
}

/**
 * Begins to import JSON lines.
 *
 * @throws {AuthError} `space_not_found`, `not_found`, `query_invalid`, `quota_exceeded`, `space_busy`, `busy`, `store_unavailable`
 */
export async function importLines(
  ports: CollectionPorts,
  named: NamedCollection,
  { lines, upsert, dryrun }: ImportOptions,
): Promise<RunningImport> {
  const { collection, visitor } = named
  const { space, data } = await findCollection(ports, named)
  if (!dryrun) requireDisk(ports.files)
  const task: ImportTask = { kind: 'import', collection, upsert, dryrun }
  const job = await ports.workers.start({ id: space.id, data }, task, lines)
  return {
    async run(report) {
      const end = await runToEnd(job, report)
      await record(ports, end, { space, task, visitor })
      return end
    },
  }
}

async function runToEnd(job: Job, report: (state: ImportState) => void): Promise<ImportEnd> {
  try {
    for (;;) {
      const event = await job.next()
      if (event.kind === 'progress') report(event.state)
      if (event.kind !== 'imported') continue
      const { outcome, fault } = event
      const error = job.uploadFault() ?? (fault && new StoreError(fault.code, fault.message))
      return { ...outcome, error: error === null ? null : asAuthError(error) }
    }
  } catch (error) {
    await job.stop()
    const { faults } = job.progress()
    // The worker may have ended before it reported its last batch.
    return { imported: job.written(), faults, failed: [], error: asAuthError(error) }
  } finally {
    await job.stop()
  }
}

function asAuthError(error: unknown): AuthError {
  const fault = toFault(error)
  return fault instanceof AuthError ? fault : new AuthError('internal_error', { cause: error })
}

async function record(
  ports: CollectionPorts,
  { imported, faults, error }: ImportEnd,
  { space, task, visitor }: { space: SpaceRecord; task: ImportTask; visitor: Visitor },
): Promise<void> {
  const { collection, upsert, dryrun } = task
  if (dryrun || (imported === 0 && error !== null)) return
  const outcome = error === null ? 'success' : 'failure'
  const detail = { collection, count: imported, failed: faults, upsert, ...(error && { code: error.code }) }
  await ports.audit.record(auditEvent(ports, 'data_imported', visitorIn(space, visitor), { outcome, detail }))
}
