import {
  readList,
  readNullable,
  readNumber,
  readObject,
  readPage,
  readSize,
  readState,
  readText,
} from '../documents/remote-ports.js'
import { isPlain } from '../documents/values.js'
import type { Snapshot } from '../ports.js'
import type { SnapshotRead } from './messages.js'

/** The port over reads that a thread answers. */
export function snapshotPages(read: (asked: SnapshotRead) => Promise<unknown>): Omit<Snapshot, 'close'> {
  return {
    list: async () => readList(await read({ verb: 'list' }), readCollection),
    async scan(collection, options) {
      return readPage(await read({ verb: 'scan', collection, options }))
    },
    async pairs(after) {
      const page = readObject(await read({ verb: 'pairs', after }))
      return { rows: readList(page.rows, readPair), next: readNullable(page.next, readName) }
    },
  }
}

/** About how many bytes a page holds. */
export function sizeOf(page: unknown): number {
  if (!isPlain(page)) return 0
  const sizes = [page.documents, page.rows].flatMap((list) => (Array.isArray(list) ? list.map(sizeOfRow) : []))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The text of a document, or the value under a key. */
function sizeOfRow(row: unknown): number {
  const { body, value } = readObject(row)
  return [body, value].reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0)
}

function readCollection(value: unknown) {
  const { indexes } = readObject(value)
  return { ...readSize(value), indexes: readList(indexes, readState) }
}

function readName(value: unknown) {
  const { keyspace, key } = readObject(value)
  return { keyspace: readText(keyspace), key: readText(key) }
}

function readPair(value: unknown) {
  const { value: text, endsAt } = readObject(value)
  return { ...readName(value), value: readText(text), endsAt: readNullable(endsAt, readNumber) }
}
