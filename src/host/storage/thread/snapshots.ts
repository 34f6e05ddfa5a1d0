import type { CollectionSize, IndexState, KeyName, Snapshot } from '../../ports.js'
import type { OpenSnapshots } from '../calls.js'
import { unavailable } from '../messages.js'
import { createDocuments } from './documents.js'
import { createIndexes } from './indexes.js'
import { blobTextAt, nullableNumberAt, openSnapshotFile, type SpaceFile, type SpaceFileOptions } from './space-file.js'

const pageBytes = 256 * 1024
const pageRows = 1_000

/** The snapshots of one space's file, each a connection of its own. */
export function createSnapshots(place: SpaceFileOptions): OpenSnapshots {
  const opened = new Map<number, Reader>()
  return {
    async begin(snapshot, nowMs) {
      const file = await openSnapshotFile(place)
      opened.set(snapshot, { ...createReader(file, nowMs), close: () => file.close() })
    },
    async read(snapshot, asked) {
      const reader = opened.get(snapshot)
      if (!reader) throw unavailable()
      if (asked.verb === 'list') return reader.list()
      if (asked.verb === 'scan') return reader.scan(asked.collection, asked.options)
      return reader.pairs(asked.after)
    },
    async end(snapshot) {
      opened.get(snapshot)?.close()
      opened.delete(snapshot)
    },
    async close() {
      for (const reader of opened.values()) reader.close()
      opened.clear()
    },
  }
}

interface Reader extends Pick<Snapshot, 'list' | 'scan' | 'pairs'> {
  close(): void
}

function createReader(file: SpaceFile, nowMs: number): Omit<Reader, 'close'> {
  const documents = createDocuments(file)
  const indexes = createIndexes(file)
  return {
    scan: documents.scan,
    async list() {
      const listed: (CollectionSize & { indexes: readonly IndexState[] })[] = []
      for (const collection of await documents.list())
        listed.push({ ...collection, indexes: await indexes.list(collection.name) })
      return listed
    },
    pairs: async (after) => pairs(file, after, nowMs),
  }
}

type PairPage = Awaited<ReturnType<Snapshot['pairs']>>

/** Expired pairs count as read, so that a page of many of them ends in time. */
function pairs(file: SpaceFile, after: KeyName | null, nowMs: number): PairPage {
  const from = after === null ? '' : 'where (keyspace, key) > (?, ?)'
  const sql = `select keyspace, key, value, ends_at from kv ${from} order by keyspace, key limit ?`
  const start = after === null ? [] : [Buffer.from(after.keyspace), Buffer.from(after.key)]
  const rows: PairPage['rows'][number][] = []
  let last: KeyName | null = null
  let [read, bytes] = [0, 0]
  for (const row of file.iterate(sql, ...start, pageRows + 1)) {
    const name = { keyspace: blobTextAt(row, 'keyspace'), key: blobTextAt(row, 'key') }
    const pair = { ...name, value: blobTextAt(row, 'value'), endsAt: nullableNumberAt(row, 'ends_at') }
    bytes += Buffer.byteLength(pair.value)
    if (read >= pageRows || (read > 0 && bytes > pageBytes)) return { rows, next: last }
    read += 1
    last = name
    if (pair.endsAt === null || pair.endsAt > nowMs) rows.push(pair)
  }
  return { rows, next: null }
}
