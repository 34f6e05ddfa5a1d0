import { type Line, readLines } from '../../../http/streams/read-lines.js'
import { isWithinBounds } from '../../documents/bounded-json.js'
import { batchLimits, withId } from '../../documents/insert.js'
import { requireCollection } from '../../documents/names.js'
import { StoreError } from '../../documents/store-error.js'
import { encode, maxDepth } from '../../documents/values.js'
import type { Documents } from '../../ports.js'
import type { ImportOutcome, ImportState, ImportTask } from '../tasks.js'
import { createTally, type Tally } from './tally.js'
import { type ImportRow, writeRows } from './write-rows.js'

export interface ImportPorts {
  documents: Documents
  newId(): string
  /** Of a document as it is stored. */
  documentBytes: number
  /** Called after each batch. */
  report(state: ImportState): Promise<void>
}

/**
 * Imports JSON lines batch by batch. A line that is no document is a fault, and the others go in. An error of the store ends it;
 * what was written before stays.
 */
export async function importPieces(
  ports: ImportPorts,
  task: ImportTask,
  pieces: AsyncIterable<Uint8Array>,
): Promise<{ outcome: ImportOutcome; error: unknown }> {
  const tally = createTally()
  try {
    requireCollection(task.collection)
    for await (const batch of batches(ports, tally, pieces)) {
      await writeRows(ports.documents, task, batch, tally)
      await ports.report(tally.state())
    }
    return { outcome: tally.outcome(), error: null }
  } catch (error) {
    return { outcome: tally.outcome(), error }
  }
}

/** Rows until there are as many as the store takes at once. The last batch may be empty. */
async function* batches(
  { newId, documentBytes }: ImportPorts,
  tally: Tally,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<ImportRow[]> {
  let batch: ImportRow[] = []
  let bytes = 0
  let number = 0
  for await (const line of readLines(pieces, 2 * documentBytes)) {
    number += 1
    const row = readRow(line, { number, newId, documentBytes, tally })
    const size = row === null ? 0 : Buffer.byteLength(row.body)
    if (batch.length > 0 && bytes + size > batchLimits.bytes) {
      yield batch
      batch = []
      bytes = 0
    }
    tally.processed(number)
    if (row === null) continue
    batch.push(row)
    bytes += size
    if (batch.length < batchLimits.rows) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

const tooLarge = 'The document is larger than limits.document.'

/** null for an empty line, and for one that is a fault. */
function readRow(
  line: Line,
  {
    number,
    newId,
    documentBytes,
    tally,
  }: Pick<ImportPorts, 'newId' | 'documentBytes'> & { number: number; tally: Tally },
): ImportRow | null {
  if ('text' in line && line.text.trim() === '') return null
  try {
    const document = withId(parse(line), newId)
    const body = encode(document)
    if (Buffer.byteLength(body) > documentBytes) throw refused(tooLarge)
    return { line: number, id: document._id, body }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    tally.fault(number, error.message)
    return null
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
