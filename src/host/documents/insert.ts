import type { Documents } from '../ports.js'
import { requireId } from './names.js'
import { isStoreError, queryInvalid, StoreError } from './store-error.js'
import { type Document, encode, isPlain } from './values.js'

export interface InsertPorts {
  documents: Pick<Documents, 'put' | 'putMany'>
  /** A new `_id`: 24 hexadecimal digits, time first. */
  newId(): string
}

/** The port takes 1,000 documents at once. In a request to the data socket, quotation marks can double these bytes. */
export const batchLimits = { rows: 1_000, bytes: 4 * 1024 * 1024 }

/** @throws {StoreError} `not_current` when a document with this `_id` exists already */
export async function insert({ documents, newId }: InsertPorts, collection: string, sent: unknown): Promise<Document> {
  const document = withId(sent, newId)
  try {
    await documents.put(collection, document._id, encode(document), 'absent')
  } catch (error) {
    throw isStoreError(error, 'not_current') ? duplicate(error) : error
  }
  return document
}

/**
 * Inserts documents batch by batch. Earlier batches stay when a later one is refused.
 *
 * @throws {StoreError} `not_current` when two have the same `_id`, or one exists already
 */
export async function insertMany(
  { documents, newId }: InsertPorts,
  collection: string,
  sent: readonly unknown[],
): Promise<Document[]> {
  const made = sent.map((each) => withId(each, newId))
  if (new Set(made.map(({ _id }) => _id)).size < made.length) throw duplicate()
  const rows = made.map((document) => ({ id: document._id, body: encode(document) }))
  for await (const batch of batched(rows, batchLimits, ({ body }) => Buffer.byteLength(body))) {
    const existing = await documents.putMany(collection, batch, 'absent')
    if (existing.length > 0) throw duplicate()
  }
  return made
}

/** @throws {StoreError} `query_invalid` */
export function requireDocument(sent: unknown): Record<string, unknown> {
  if (!isPlain(sent)) throw queryInvalid('A document must be an object.')
  return sent
}

/** Lists of rows, each within the limits or of one row. After a fault, what came before it is given first. */
export async function* batched<T>(
  rows: Iterable<T> | AsyncIterable<T>,
  limits: { rows: number; bytes: number },
  bytesOf: (row: T) => number,
): AsyncGenerator<T[], void, undefined> {
  let batch: T[] = []
  let bytes = 0
  try {
    for await (const row of rows) {
      const size = bytesOf(row)
      if (batch.length > 0 && (batch.length >= limits.rows || bytes + size > limits.bytes)) {
        yield batch
        batch = []
        bytes = 0
      }
      batch.push(row)
      bytes += size
    }
  } catch (error) {
    if (batch.length > 0) yield batch
    throw error
  }
  if (batch.length > 0) yield batch
}

/** The document that is written, with a new `_id` when it has none. @throws {StoreError} `query_invalid` */
export function withId(sent: unknown, newId: () => string): Document {
  const { _id: id, ...fields } = requireDocument(sent)
  return { _id: id === undefined ? newId() : requireId(id), ...fields }
}

function duplicate(cause?: unknown): StoreError {
  return new StoreError('not_current', 'A document with this _id exists already.', cause)
}
