import { type Line, readLines } from '../../../http/streams/read-lines.js'
import { isWithinBounds } from '../../documents/bounded-json.js'
import { batchLimits, withId } from '../../documents/insert.js'
import { requireCollection } from '../../documents/names.js'
import { StoreError } from '../../documents/store-error.js'
import { encodeParsed, maxDepth } from '../../documents/values.js'
import type { Documents } from '../../ports.js'
import type { ImportOutcome, ImportState, ImportTask, LineFault } from '../tasks.js'

interface ImportPorts {
  documents: Documents
  newId(): string
  /** Of a document as it is stored. */
  documentBytes: number
  /** Called after each batch. */
  report(state: ImportState): Promise<void>
}

/** Lines that are written at once. */
interface Batch {
  rows: ImportRow[]
  /** Lines among them that are no documents. */
  faults: LineFault[]
  /** The number of the last line. */
  last: number
}

/**
 * Imports JSON lines batch by batch. A line that is no document is a fault, and the others go in. An error of the store ends it;
 * what was written before stays. While a batch is written, the next one is read.
 */
export async function importPieces(
  ports: ImportPorts,
  task: ImportTask,
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ outcome: ImportOutcome; error: unknown }> {
  const tally = createTally()
  try {
    requireCollection(task.collection)
    for await (const { rows, faults, last } of ahead(batches(ports, pieces))) {
      for (const { line, fault } of faults) tally.fault(line, fault)
      if (rows.length > 0) await writeRows(ports.documents, task, rows, tally)
      tally.processed(last)
      await ports.report(tally.state())
    }
    return { outcome: tally.outcome(), error: null }
  } catch (error) {
    return { outcome: tally.outcome(), error }
  }
}

/** The same values. While the caller works on one, the next is made. */
async function* ahead<T>(values: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = values.next()
  try {
    for (;;) {
      const { value, done } = await next
      if (done) return
      next = values.next()
      // It is awaited when the caller comes back. Until then its failure is no unhandled one.
      next.catch(() => {})
      yield value
    }
  } finally {
    // Not awaited: the next value may be long in coming.
    values.return(undefined).catch(() => {})
  }
}

/** Batches of as many lines as the store takes documents at once. */
async function* batches(
  ports: Pick<ImportPorts, 'newId' | 'documentBytes'>,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Batch> {
  const after = (last: number): Batch => ({ rows: [], faults: [], last })
  let batch = after(0)
  let bytes = 0
  for await (const line of readLines(pieces, 2 * ports.documentBytes)) {
    const number = batch.last + 1
    const read = readRow(line, number, ports)
    const size = read !== null && 'body' in read ? Buffer.byteLength(read.body) : 0
    if (bytes > 0 && bytes + size > batchLimits.bytes) {
      yield batch
      batch = after(batch.last)
      bytes = 0
    }
    batch.last = number
    bytes += size
    if (read !== null && 'body' in read) batch.rows.push(read)
    else if (read !== null) batch.faults.push(read)
    if (batch.rows.length + batch.faults.length < batchLimits.rows) continue
    yield batch
    batch = after(number)
    bytes = 0
  }
  if (batch.rows.length + batch.faults.length > 0) yield batch
}

const tooLarge = 'The document is larger than limits.document.'

/** null for an empty line. */
function readRow(
  line: Line,
  number: number,
  { newId, documentBytes }: Pick<ImportPorts, 'newId' | 'documentBytes'>,
): ImportRow | LineFault | null {
  if ('text' in line && line.text.trim() === '') return null
  try {
    const document = withId(parse(line, documentBytes), newId)
    const body = encodeParsed(document)
    if (Buffer.byteLength(body) > documentBytes) throw refused(tooLarge)
    return { line: number, id: document._id, body }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { line: number, fault: error.message }
  }
}

/** @throws {StoreError} `query_invalid`. The message names what is wrong, and no value. */
function parse(line: Line, documentBytes: number): unknown {
  if ('fault' in line) {
    throw refused(line.fault === 'too_long' ? tooLarge : 'The line is not UTF-8.')
  }
  const depth = maxDepth + 1
  // Each part is at least one byte of the stored document, and much more memory while it is read.
  if (!isWithinBounds(line.text, { depth, parts: documentBytes })) {
    const isDeep = !isWithinBounds(line.text, { depth, parts: Number.POSITIVE_INFINITY })
    throw refused(isDeep ? `The document nests deeper than ${maxDepth} levels.` : tooLarge)
  }
  try {
    return JSON.parse(line.text)
  } catch {
    throw refused('The line is no JSON.')
  }
}

function refused(message: string): StoreError {
  return new StoreError('query_invalid', message)
}

/** A line that is a document. */
interface ImportRow {
  line: number
  id: string
  body: string
}

const parallelReads = 32
const exists = 'A document with this _id exists already.'

/** Writes rows at once. @throws {StoreError} what is no fault of a row */
async function writeRows(
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

/** How many faults are listed. The others are counted. */
const mostListed = 1_000

/** What became of the lines of an import so far. */
interface Tally {
  processed(line: number): void
  imported(count: number): void
  fault(line: number, fault: string): void
  state(): ImportState
  outcome(): ImportOutcome
}

function createTally(): Tally {
  const failed: LineFault[] = []
  const state = { processed: 0, imported: 0, faults: 0 }
  return {
    processed(line) {
      state.processed = line
    },
    imported(count) {
      state.imported += count
    },
    fault(line, fault) {
      state.faults += 1
      if (failed.length < mostListed) failed.push({ line, fault })
    },
    state: () => ({ ...state }),
    outcome: () => ({ ...state, failed: failed.toSorted((one, other) => one.line - other.line) }),
  }
}
