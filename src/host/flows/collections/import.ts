import { AuthError } from '../../../errors.js'
import { auditEvent } from '../../../flows/steps/audit.js'
import type { Visitor } from '../../../model/visitor.js'
import { StoreError } from '../../documents/store-error.js'
import type { SpaceRecord } from '../../store/spaces.js'
import type { Job } from '../../workers/job.js'
import type { ImportOutcome, ImportState, ImportTask } from '../../workers/tasks.js'
import { visitorIn } from '../spaces/find-space.js'
import { requireDisk, toFault } from '../spaces/store-faults.js'
import type { Upload } from '../spaces/uploads.js'
import { findCollection, type NamedCollection } from './find-collection.js'
import type { CollectionPorts } from './ports.js'

export interface ImportOptions extends Pick<ImportTask, 'upsert' | 'dryrun'> {
  /** JSON lines as they arrive. When the client leaves before their end, reading must reject. */
  lines: AsyncIterable<Uint8Array>
  /** The same pieces, as long as the caller may import. */
  judged(received: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

/** How an import ended. */
export interface ImportEnd extends Pick<ImportOutcome, 'imported' | 'faults' | 'failed'> {
  /** Why it ended early; what was imported before stays. null: it ran to the end of the lines. */
  error: AuthError | null
}

export interface RunningImport {
  /** Runs it to its end, or until the client has left, and reports how far it is after each batch. */
  run(report: (state: ImportState) => void, left: AbortSignal): Promise<ImportEnd>
}

/**
 * Begins to import JSON lines. They are received whole before a place to write is asked for, so a slow client holds none.
 *
 * @throws {AuthError} `space_not_found`, `not_found`, `query_invalid`, `quota_exceeded`, `space_busy`, `store_unavailable`
 */
export async function importLines(
  ports: CollectionPorts,
  named: NamedCollection,
  options: ImportOptions,
): Promise<RunningImport> {
  const { visitor } = named
  const { space } = await findCollection(ports, named)
  requireDisk(ports.files)
  const upload = ports.uploads.enter({ spaceId: space.id, by: visitor.actor, mostBytes: ports.uploadBytes })
  return {
    run: (report, left) =>
      receive(ports, named, { options, upload, report, left })
        .catch((error: unknown) => ({ imported: 0, faults: 0, failed: [], error: asAuthError(error) }))
        .finally(() => upload.leave()),
  }
}

interface Receiving {
  options: ImportOptions
  upload: Upload
  report: (state: ImportState) => void
  left: AbortSignal
}

async function receive(
  ports: CollectionPorts,
  named: NamedCollection,
  { options, upload, report, left }: Receiving,
): Promise<ImportEnd> {
  const { lines, upsert, dryrun, judged } = options
  const { collection, visitor } = named
  const received = await ports.spool(upload.id, upload.read(lines))
  try {
    // While it arrived, the space may have been restored or removed.
    const { space, data } = await findCollection(ports, named)
    const task: ImportTask = { kind: 'import', collection, upsert, dryrun }
    const pieces = judged(untilLeft(received.pieces(), left))
    const job = await ports.workers.start({ id: space.id, data }, task, pieces)
    const end = await runToEnd(job, report)
    await record(ports, end, { space, task, visitor })
    return end
  } finally {
    await received.remove()
  }
}

async function* untilLeft(pieces: AsyncIterable<Uint8Array>, left: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    if (left.aborted) throw new AuthError('invalid_request', { detail: 'The client left before the import ended.' })
    yield piece
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
