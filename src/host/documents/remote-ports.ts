import type {
  CollectionSize,
  Documents,
  Indexes,
  IndexProgress,
  IndexState,
  KeyValue,
  KeyValues,
  ScanPage,
  StoredDocument,
} from '../ports.js'
import { StoreError } from './store-error.js'
import { isPlain } from './values.js'
import type { WirePort } from './wire.js'

/** Makes a call elsewhere and gives its value, or rejects with a `StoreError`. */
export type RemoteCall = (port: WirePort, verb: string, ...input: readonly unknown[]) => Promise<unknown>

/** The port over calls that another process or thread answers. */
export function remoteDocuments(call: RemoteCall): Documents {
  return {
    get: async (...input) => readNullable(await call('documents', 'get', ...input), readStored),
    put: async (...input) => readNumber(await call('documents', 'put', ...input)),
    remove: async (...input) => (await call('documents', 'remove', ...input)) === true,
    scan: async (...input) => readPage(await call('documents', 'scan', ...input)),
    putMany: async (...input) => readList(await call('documents', 'putMany', ...input), readText),
    changeMany: async (...input) => readOutcome(await call('documents', 'changeMany', ...input)),
    count: async (...input) => readNumber(await call('documents', 'count', ...input)),
    drop: async (...input) => void (await call('documents', 'drop', ...input)),
    list: async () => readList(await call('documents', 'list'), readSize),
  }
}

/** As `remoteDocuments`. */
export function remoteIndexes(call: RemoteCall): Indexes {
  return {
    list: async (...input) => readList(await call('indexes', 'list', ...input), readState),
    create: async (...input) => (await call('indexes', 'create', ...input)) === true,
    build: async (...input) => readProgress(await call('indexes', 'build', ...input)),
    scan: async (...input) => readPage(await call('indexes', 'scan', ...input)),
    remove: async (...input) => (await call('indexes', 'remove', ...input)) === true,
  }
}

/** As `remoteDocuments`. */
export function remoteKeyValues(call: RemoteCall): KeyValues {
  return {
    get: async (...input) => readNullable(await call('keyValues', 'get', ...input), readText),
    set: async (...input) => void (await call('keyValues', 'set', ...input)),
    remove: async (...input) => (await call('keyValues', 'remove', ...input)) === true,
    increment: async (...input) => readNumber(await call('keyValues', 'increment', ...input)),
    async page(...input) {
      const page = readObject(await call('keyValues', 'page', ...input))
      return { rows: readList(page.rows, readPair), next: readNullable(page.next, readText) }
    },
    removePage: async (...input) => readNumber(await call('keyValues', 'removePage', ...input)),
  }
}

/** The other side is trusted, but another version of it may answer something else. */
function unreadable(): StoreError {
  return new StoreError('store_unavailable', 'The data side gave an answer that cannot be read.')
}

export function readObject(value: unknown): Record<string, unknown> {
  if (!isPlain(value)) throw unreadable()
  return value
}

export function readText(value: unknown): string {
  if (typeof value !== 'string') throw unreadable()
  return value
}

export function readNumber(value: unknown): number {
  if (typeof value !== 'number') throw unreadable()
  return value
}

function readFlag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw unreadable()
  return value
}

export function readNullable<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null ? null : read(value)
}

export function readList<T>(value: unknown, read: (value: unknown) => T): T[] {
  if (!Array.isArray(value)) throw unreadable()
  return value.map(read)
}

function readStored(value: unknown): StoredDocument {
  const { id, version, body } = readObject(value)
  return { id: readText(id), version: readNumber(version), body: readText(body) }
}

export function readOutcome(value: unknown): Awaited<ReturnType<Documents['changeMany']>> {
  const { changed, overtaken } = readObject(value)
  return { changed: readNumber(changed), overtaken: readList(overtaken, readText) }
}

export function readPage(value: unknown): ScanPage {
  const { documents, next } = readObject(value)
  return { documents: readList(documents, readStored), next: readNullable(next, readText) }
}

export function readState(value: unknown): IndexState {
  const { field, isUnique, state, isMultikey, isOrdered } = readObject(value)
  if (state !== 'building' && state !== 'ready') throw unreadable()
  return {
    field: readText(field),
    isUnique: readFlag(isUnique),
    state,
    isMultikey: readFlag(isMultikey),
    isOrdered: readFlag(isOrdered),
  }
}

function readProgress(value: unknown): IndexProgress {
  const { processed, of, isReady } = readObject(value)
  return { processed: readNumber(processed), of: readNumber(of), isReady: readFlag(isReady) }
}

export function readSize(value: unknown): CollectionSize {
  const { name, count, bytes } = readObject(value)
  return { name: readText(name), count: readNumber(count), bytes: readNumber(bytes) }
}

function readPair(value: unknown): KeyValue {
  const { key, value: text } = readObject(value)
  return { key: readText(key), value: readText(text) }
}
