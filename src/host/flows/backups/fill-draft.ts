import { AuthError, invalidField } from '../../../errors.js'
import { isObject, parseJson } from '../../../lib/json-object.js'
import {
  type BackupCollection,
  type BackupIndex,
  type BackupManifest,
  backupPaths,
} from '../../archives/backup-manifest.js'
import { type ArchivedLine, type ArchiveEntry, archiveInvalid, linesOf, quoted } from '../../archives/entries.js'
import { requireCollection } from '../../documents/names.js'
import { StoreError } from '../../documents/store-error.js'
import type { StoredPair } from '../../ports.js'
import type { SpaceData } from '../../storage/space.js'
import type { SpaceRecord } from '../../store/spaces.js'
import { withFaults } from '../spaces/store-faults.js'
import type { BackupPorts } from './ports.js'

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

/** What the caller allows a restore to do. */
export interface RestoreRules {
  /** Reads and checks everything, and changes nothing. */
  verifyOnly: boolean
  /** Puts the release of the archive in force, too. */
  release: boolean
  /** Brings the settings of the archive, too. */
  settings: boolean
  /** The archive may be of another installation, whose signature cannot be checked. */
  foreign: boolean
  /** The name of the space. For an archive of another space also that one's, behind a comma. */
  confirm: string | undefined
  /** Admin tokens never bring settings or archives of another installation. */
  isSession: boolean
}

/** As many as a space may have. */
const mostCollections = 1_000

/**
 * Checks the manifest of a backup before anything is written.
 *
 * @throws {AuthError} `archive_invalid`, `quota_exceeded`, `invalid_request` for another `confirm`, `admin_token_not_for_this`
 */
export function judgeManifest(
  { signer, dataLimits }: Pick<BackupPorts, 'signer' | 'dataLimits'>,
  { manifest, space, rules }: { manifest: BackupManifest; space: SpaceRecord; rules: RestoreRules },
): void {
  requireShape(manifest)
  // Only a first look: the archive is signed as a whole, and that is checked at its end.
  if (!isOurs(signer, manifest.installation)) requireForeign(rules)
  requireConfirmed(manifest, space, rules)
  if (rules.release && manifest.release === null) {
    throw archiveInvalid('The archive holds no release.', 'Restore it without release.')
  }
  if (rules.settings && manifest.space.id !== space.id) {
    throw archiveInvalid('Settings are restored to their own space only.', 'Restore it without settings.')
  }
  const bytes = manifest.collections.reduce((sum, each) => sum + each.bytes, 0)
  if (bytes <= dataLimits.spaceBytes) return
  const fault = `The archive holds ${bytes} bytes of documents, and a space ${dataLimits.spaceBytes}.`
  throw new AuthError('quota_exceeded', { detail: `${fault} Raise limits.space of the host.` })
}

/** @throws {AuthError} `archive_invalid`, `admin_token_not_for_this` unless the caller allows it */
export function requireForeign({ foreign, isSession }: RestoreRules): void {
  if (foreign && isSession) return
  const fault = 'The archive is of another installation, so its signature cannot be checked.'
  const cure = 'If you trust its origin, sign in and restore it with foreign=true, or with --foreign of the tool.'
  if (isSession) throw archiveInvalid(fault, cure)
  throw new AuthError('admin_token_not_for_this', { detail: `${fault} ${cure}` })
}

function isOurs({ verify }: BackupPorts['signer'], keyId: string): boolean {
  return verify('', { keyId, mac: '' }) !== 'foreign'
}

function requireConfirmed({ space: from }: BackupManifest, { id, name }: SpaceRecord, rules: RestoreRules): void {
  const expected = from.id === id ? name : `${name},${from.name}`
  if (rules.verifyOnly || rules.confirm === expected) return
  const message =
    from.id === id
      ? 'must repeat the name of the space'
      : `must be "${expected}": the archive is of another space, named ${from.name}`
  throw invalidField('confirm', message)
}

function requireShape({ space, time, collections }: BackupManifest): void {
  const isNamed = /^[\w-]{1,64}$/.test(space.id) && /^[a-z][a-z0-9-]{0,30}$/.test(space.name)
  const isTimed = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time) && !Number.isNaN(Date.parse(time))
  if (!isNamed || !isTimed) throw archiveInvalid('manifest.json names no space, or no time.')
  if (collections.length > mostCollections) {
    throw archiveInvalid(`The archive has ${collections.length} collections, at most ${mostCollections}.`)
  }
  const names = new Set<string>()
  for (const collection of collections) requireNew(names, collection)
}

function requireNew(names: Set<string>, { name }: BackupCollection): void {
  try {
    requireCollection(name)
  } catch (error) {
    throw archiveInvalid(`${quoted(name)} is no name of a collection.`, undefined, error)
  }
  if (names.has(name)) throw archiveInvalid(`The collection ${name} is listed twice.`)
  names.add(name)
}
