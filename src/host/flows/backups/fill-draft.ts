import { isObject, parseJson } from '../../../lib/json-object.js'
import { archiveInvalid } from '../../archives/archive-invalid.js'
import { type ArchivedLine, linesOf } from '../../archives/archived-lines.js'
import { type BackupCollection, type BackupIndex, backupPaths } from '../../archives/backup-manifest.js'
import type { ArchiveEntry } from '../../archives/entries.js'
import { quoted } from '../../archives/quoted.js'
import { StoreError } from '../../documents/store-error.js'
import type { StoredPair } from '../../ports.js'
import type { SpaceData } from '../../storage/space.js'
import { withFaults } from '../spaces/store-faults.js'

type Draft = Pick<SpaceData, 'documents' | 'indexes' | 'putPairs'>

/** Of one transaction, so that the data thread stays free for other spaces. */
const mostRows = 1_000
const mostBatchBytes = 1024 * 1024
/** A pair as a line: escapes make a text up to six times as long, and its names have 2 KiB. */
const pairFactor = 6
const pairNameBytes = 16 * 1024

/**
 * Writes the documents of a collection, and calls back with how many there are so far.
 *
 * @throws {AuthError} `archive_invalid`, `quota_exceeded`, `store_unavailable`
 */
export async function fillCollection(
  { documents }: Draft,
  { collection, entry, longestBytes }: { collection: BackupCollection; entry: ArchiveEntry; longestBytes: number },
  report: (count: number) => void,
): Promise<void> {
  const { name, count, bytes } = collection
  const sums = { count: 0, bytes: 0 }
  for await (const rows of batchesOf(linesOf(entry, longestBytes))) {
    const existing = await asArchiveFault(entry.path, () => documents.putMany(name, rows.map(toDocument), 'absent'))
    const [twice] = existing
    if (twice !== undefined) throw archiveInvalid(`${quoted(entry.path)} has the _id ${quoted(twice)} twice.`)
    sums.count += rows.length
    sums.bytes += rows.reduce((sum, row) => sum + row.bytes, 0)
    report(rows.length)
  }
  // Each line ends with one byte.
  if (sums.count !== count || sums.bytes !== bytes || entry.size !== bytes + count) {
    throw archiveInvalid(`${quoted(entry.path)} has not what ${backupPaths.manifest} says.`)
  }
  if (count === 0) await makeEmpty(documents, name)
}

/** A collection is made with its first document. */
async function makeEmpty(documents: Draft['documents'], name: string): Promise<void> {
  await withFaults(async () => {
    await documents.put(name, 'first', '{"_id":"first"}', 'absent')
    await documents.remove(name, 'first', 'any')
  })
}

/** @throws {AuthError} `archive_invalid`, `quota_exceeded`, `store_unavailable` */
export async function fillPairs(
  draft: Draft,
  { entry, count, longestBytes }: { entry: ArchiveEntry; count: number; longestBytes: number },
): Promise<void> {
  const lines = linesOf(entry, pairFactor * longestBytes + pairNameBytes)
  let found = 0
  let last: StoredPair | null = null
  for await (const rows of batchesOf(lines)) {
    const pairs = rows.map(toPair)
    for (const pair of pairs) {
      if (last && !isBefore(last, pair)) {
        throw archiveInvalid(`${quoted(entry.path)} has a key twice, or out of order.`)
      }
      last = pair
    }
    found += pairs.length
    await asArchiveFault(entry.path, () => draft.putPairs(pairs))
  }
  if (found !== count) throw archiveInvalid(`${quoted(entry.path)} has ${found} pairs, not ${count}.`)
}

/** By the bytes of keyspace and key. */
function isBefore(one: StoredPair, other: StoredPair): boolean {
  const keyspaces = Buffer.compare(Buffer.from(one.keyspace), Buffer.from(other.keyspace))
  return keyspaces < 0 || (keyspaces === 0 && Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)) < 0)
}

/**
 * Builds the indexes one after another, and calls back after each page of documents.
 *
 * @throws {AuthError} `archive_invalid`, `quota_exceeded`, `store_unavailable`
 */
export async function buildIndexes(
  { indexes }: Draft,
  { listed, known }: { listed: readonly BackupIndex[]; known: readonly BackupCollection[] },
  report: (progress: { collection: string; field: string; processed: number; of: number }) => void,
): Promise<void> {
  const path = backupPaths.indexes
  for (const { collection, field, unique } of listed) {
    if (!known.some(({ name }) => name === collection)) {
      throw archiveInvalid(`${quoted(path)} names a collection that is not there.`)
    }
    const isNew = await asArchiveFault(path, () => indexes.create(collection, field, unique))
    if (!isNew) throw archiveInvalid(`${quoted(path)} has the index ${quoted(field)} twice.`)
    for (;;) {
      const { processed, of, isReady } = await asArchiveFault(path, () => indexes.build(collection, field))
      report({ collection, field, processed, of })
      if (isReady) break
    }
  }
}

async function* batchesOf(lines: AsyncIterable<ArchivedLine>): AsyncGenerator<ArchivedLine[]> {
  let batch: ArchivedLine[] = []
  let bytes = 0
  for await (const line of lines) {
    if (batch.length > 0 && (batch.length >= mostRows || bytes + line.bytes > mostBatchBytes)) {
      yield batch
      ;[batch, bytes] = [[], 0]
    }
    batch.push(line)
    bytes += line.bytes
  }
  if (batch.length > 0) yield batch
}

function toDocument({ path, number, text }: ArchivedLine): { id: string; body: string } {
  const document = parseJson(text)
  if (isObject(document) && typeof document._id === 'string') return { id: document._id, body: text }
  throw archiveInvalid(`Line ${number} of ${quoted(path)} is no document with a text as _id.`)
}

function toPair({ path, number, text }: ArchivedLine): StoredPair {
  const pair = parseJson(text)
  if (isObject(pair)) {
    const { keyspace, key, value, endsAt } = pair
    const isTimed = endsAt === null || (typeof endsAt === 'number' && Number.isSafeInteger(endsAt))
    const isText = typeof keyspace === 'string' && typeof key === 'string' && typeof value === 'string'
    if (isText && isTimed) return { keyspace, key, value, endsAt }
  }
  throw archiveInvalid(`Line ${number} of ${quoted(path)} is no key-value pair.`)
}

/** What the store refuses of an archive is a fault of the archive, but for the room that it needs. */
async function asArchiveFault<T>(path: string, run: () => Promise<T>): Promise<T> {
  return withFaults(() =>
    run().catch((error: unknown) => {
      const isRefused = error instanceof StoreError && ['query_invalid', 'already_exists'].includes(error.code)
      throw isRefused ? archiveInvalid(`${quoted(path)}: ${error.message}`, undefined, error) : error
    }),
  )
}
