import { type Line, readLines } from '../../../http/streams/read-lines.js'
import { isWithinBounds } from '../../documents/bounded-json.js'
import { batchLimits, withId } from '../../documents/insert.js'
import { requireCollection } from '../../documents/names.js'
import { StoreError } from '../../documents/store-error.js'
import { encodeParsed, maxDepth } from '../../documents/values.js'
import type { Documents } from '../../ports.js'
import type { ImportOutcome, ImportState, ImportTask } from '../tasks.js'
import { createTally } from './tally.js'
import { type ImportRow, writeRows } from './write-rows.js'

export interface ImportPorts {
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
  faults: { line: number; fault: string }[]
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
  const write = async (batch: Batch): Promise<void> => {
    for (const { line, fault } of batch.faults) tally.fault(line, fault)
    await writeRows(ports.documents, task, batch.rows, tally)
    tally.processed(batch.last)
    await ports.report(tally.state())
  }
  let writing = Promise.resolve()
  try {
    requireCollection(task.collection)
    for await (const batch of batches(ports, pieces)) {
      await writing
      writing = write(batch)
      // It is awaited later; until then its failure is no unhandled one.
      writing.catch(() => {})
    }
    await writing
    return { outcome: tally.outcome(), error: null }
  } catch (error) {
    // When reading failed, the batch that is being written still counts.
    await writing.catch(() => {})
    return { outcome: tally.outcome(), error }
  }
}

/** Batches of as many rows as the store takes at once. The last one may have none. */
async function* batches(
  ports: Pick<ImportPorts, 'newId' | 'documentBytes'>,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Batch> {
  let batch: Batch = { rows: [], faults: [], last: 0 }
  let bytes = 0
  for await (const line of readLines(pieces, 2 * ports.documentBytes)) {
    const number = batch.last + 1
    const read = readRow(line, number, ports)
    const size = read !== null && 'body' in read ? Buffer.byteLength(read.body) : 0
    const lines = batch.rows.length + batch.faults.length
    if (lines > 0 && (lines >= batchLimits.rows || bytes + size > batchLimits.bytes)) {
      yield batch
      batch = { rows: [], faults: [], last: batch.last }
      bytes = 0
    }
    batch.last = number
    bytes += size
    if (read === null) continue
    if ('body' in read) batch.rows.push(read)
    else batch.faults.push(read)
  }
  yield batch
}

const tooLarge = 'The document is larger than limits.document.'

/** null for an empty line. */
function readRow(
  line: Line,
  number: number,
  { newId, documentBytes }: Pick<ImportPorts, 'newId' | 'documentBytes'>,
): ImportRow | Batch['faults'][number] | null {
  if ('text' in line && line.text.trim() === '') return null
  try {
    const document = withId(parse(line), newId)
    const body = encodeParsed(document)
    if (Buffer.byteLength(body) > documentBytes) throw refused(tooLarge)
    return { line: number, id: document._id, body }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { line: number, fault: error.message }
  }
}

/** @throws {StoreError} `query_invalid`. The message names what is wrong, and no value. */
function parse(line: Line): unknown {
  if ('fault' in line) {
    throw refused(line.fault === 'too_long' ? tooLarge : 'The line is not UTF-8.')
  }
  if (!isWithinBounds(line.text, { depth: maxDepth + 1, parts: Number.POSITIVE_INFINITY })) {
    throw refused(`The document nests deeper than ${maxDepth} levels.`)
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
