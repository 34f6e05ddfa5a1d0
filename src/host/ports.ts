/** What a `put` or `remove` expects to find: the version that was read, `absent` for no document, `any` for both. */
export type IfVersion = number | 'absent' | 'any'

/** A document as the store keeps it: JSON text that only the child reads. */
export interface StoredDocument {
  id: string
  /** From one counter of the space. Never used twice, not even by a document that is removed and made again. */
  version: number
  body: string
}

/** A change of a document that was read in this version. */
export interface VersionedChange extends Pick<StoredDocument, 'id' | 'version'> {
  /** null removes it. */
  body: string | null
}

export interface ScanOptions {
  /** The `_id` after which the page begins, exclusive; null for the first page. */
  after: string | null
  /** Descending `_id` order. */
  reverse: boolean
  /** At most this many documents. */
  limit: number
}

export interface ScanPage {
  documents: readonly StoredDocument[]
  /** What the next call passes as `after`. null on the last page. */
  next: string | null
}

/** One collection of a space and how many documents it holds. */
export interface CollectionSize {
  name: string
  count: number
  bytes: number
}

/**
 * The documents of one space. Each method is one atomic step and rejects with a `StoreError`: `not_current` when the document
 * changed since it was read, `query_invalid` for a bad name or `_id`, `quota_exceeded` when a limit of the space is reached.
 *
 * `_id`s are ordered by their UTF-8 bytes, without a collation.
 */
export interface Documents {
  get(collection: string, id: string): Promise<StoredDocument | null>
  /** Writes a document and returns its new version. */
  put(collection: string, id: string, body: string, ifVersion: IfVersion): Promise<number>
  /** Whether the document existed. With a number it rejects when the document is gone or has another version. */
  remove(collection: string, id: string, ifVersion: number | 'any'): Promise<boolean>
  /** A page of at most 256 KiB of bodies, but of one document at least, in `_id` order. A missing collection is empty. */
  scan(collection: string, options: ScanOptions): Promise<ScanPage>
  /** At most 1,000 documents in one transaction. Returns the `_id`s that exist already; with `absent` those are left alone. */
  putMany(
    collection: string,
    rows: readonly Pick<StoredDocument, 'id' | 'body'>[],
    ifVersion: 'absent' | 'any',
  ): Promise<readonly string[]>
  /**
   * At most 1,000 changes in one transaction, each of another document. `overtaken` are the `_id`s of those that had changed
   * since they were read, or were gone: they are left alone. They may not pass on unique values to each other. A call whose
   * outcome is unknown must not be repeated: its own changes would then be overtaken ones.
   */
  changeMany(
    collection: string,
    changes: readonly VersionedChange[],
  ): Promise<{ changed: number; overtaken: readonly string[] }>
  count(collection: string): Promise<number>
  /** Removes the collection and all its documents. */
  drop(collection: string): Promise<void>
  /** In order of their names. */
  list(): Promise<readonly CollectionSize[]>
}

/** A part of an index: the entries whose key, in hexadecimal, is `from` or greater and less than `to`. */
export interface KeyRange {
  from: string
  to: string
}

/** How an index is read. */
export interface IndexScan {
  field: string
  /** Each of them reaches every document that is wanted; the store reads the one with the fewest entries. */
  choices: readonly (readonly KeyRange[])[]
  /** By key, descending with -1; where keys are equal always by ascending `_id`. null for any order. */
  order: 1 | -1 | null
  /** What the planner took the index for. The first page rejects with `plan_outdated` when it is otherwise now. */
  seen: Pick<IndexState, 'isMultikey' | 'isOrdered'>
  /** `next` of the page before; null for the first page. */
  after: string | null
  limit: number
}

/** An index of a collection, on one field. */
export interface IndexState {
  /** A field, or a path with dots. */
  field: string
  /** No two documents have the same value. It holds from the beginning of `building` on. */
  isUnique: boolean
  /** `building`: its entries are not complete, so finds do not read it. */
  state: 'building' | 'ready'
  /** A document has an array in this field. */
  isMultikey: boolean
  /** The entries of all documents stand in mingo's order. */
  isOrdered: boolean
}

/** How far an index is built. */
export interface IndexProgress {
  /** Documents that are done. */
  processed: number
  /** Documents of the collection. */
  of: number
  isReady: boolean
}

/**
 * The indexes of one space. Each method is one atomic step and rejects with a `StoreError`, as those of `Documents`.
 *
 * Writes of `Documents` keep the entries up to date in the same step. With a unique index they reject with `already_exists`
 * when another document has the value, and with `query_invalid` for an array or an object; both name the field, never the value.
 */
export interface Indexes {
  /** In order of their fields. A missing collection has none. */
  list(collection: string): Promise<readonly IndexState[]>
  /**
   * Begins an index in the state `building`, and makes a missing collection. False when it exists already, as `isUnique` or not.
   * Rejects with `quota_exceeded` beyond the limit of indexes.
   */
  create(collection: string, field: string, isUnique: boolean): Promise<boolean>
  /**
   * Adds the entries of the next documents, at most 1,000. Call it until `isReady`; it goes on where the call before ended,
   * also after a restart. Rejects with `query_invalid` when there is no such index, and when a unique one finds duplicates,
   * arrays or objects: then it names ten of them by `_id`, and removes the index.
   */
  build(collection: string, field: string): Promise<IndexProgress>
  /**
   * As `scan` of `Documents`, through an index. A document may come several times where the index is multikey, and when it
   * changes meanwhile. Rejects with `plan_outdated` when there is no such index, or it is not ready.
   */
  scan(collection: string, scan: IndexScan): Promise<ScanPage>
  /** Whether the index existed. Its entries are deleted page by page later. */
  remove(collection: string, field: string): Promise<boolean>
}

export interface KeyValue {
  key: string
  value: string
}

/** A key-value pair as the store keeps it. */
export interface StoredPair extends KeyName {
  value: string
  /** Unix milliseconds; null: never. */
  endsAt: number | null
}

/**
 * The data of a space at one moment, while others go on writing. It ends after one hour, or when its reader is too slow; then
 * each call rejects with `store_unavailable`.
 */
export interface Snapshot {
  /** Collections with their indexes. */
  list(): Promise<readonly (CollectionSize & { indexes: readonly IndexState[] })[]>
  scan(collection: string, options: ScanOptions): Promise<ScanPage>
  /** All pairs that have not expired, in order of keyspace and key. */
  pairs(after: KeyName | null): Promise<{ rows: readonly StoredPair[]; next: KeyName | null }>
  close(): Promise<void>
}

export interface KeyValuePage {
  rows: readonly KeyValue[]
  /** What the next call passes as `after`. null on the last page. */
  next: string | null
}

/** A key within a keyspace. The keyspace `''` is the default one. */
export interface KeyName {
  keyspace: string
  key: string
}

/**
 * The key-value pairs of one space. Each method is one atomic step. An expired pair counts as removed.
 *
 * `ttlMs` is a lifetime in milliseconds; null keeps the pair until it is removed.
 */
export interface KeyValues {
  get(name: KeyName): Promise<string | null>
  set(name: KeyName, value: string, ttlMs: number | null): Promise<void>
  /** Whether the pair existed. */
  remove(name: KeyName): Promise<boolean>
  /**
   * Adds to the number under a key, where an absent one counts as 0, and returns the sum. A given `ttlMs` sets the lifetime
   * anew, null leaves it. Rejects with `query_invalid` when the value is not a number.
   */
  increment(name: KeyName, by: number, ttlMs: number | null): Promise<number>
  /** A page of the pairs whose key begins with `prefix`, by the UTF-8 bytes of their keys. */
  page(keyspace: string, prefix: string, after: string | null): Promise<KeyValuePage>
  /** Removes a page of the pairs whose key begins with `prefix`. Returns how many it removed; 0 when no key matches. */
  removePage(keyspace: string, prefix: string): Promise<number>
}

/** The row of a space's data key. */
export interface SpaceKey {
  /** Id of the space. */
  space: string
  /** `<id of the master key>.<sealed key>` */
  wrapped: string
}

/** The row of a variable. */
export interface SealedVariable {
  name: string
  /** Counts how often the variable was set. */
  version: number
  /** `<id of the data key>.<sealed value>` */
  sealed: string
}

/** Seals the environment of spaces, each with a data key of its own. */
export interface Sealer {
  /** A new data key, wrapped by the master key. */
  newKey(spaceId: string): SpaceKey
  /** Bound to space, name and version: moved to another row, it does not open. */
  seal(key: SpaceKey, variable: { name: string; version: number; value: string }): SealedVariable
  /** @throws {SealingError} when a key is missing or a row was changed */
  open(key: SpaceKey, variable: SealedVariable): string
}

/** The files of spaces, beside their data. */
export interface SpaceFiles {
  /** The folder of a space's releases. It is made when it is missing. */
  releases(spaceId: string): Promise<string>
  /** The folder of one release. */
  release(spaceId: string, number: number): string
  /** The folder that only the child writes to. */
  temporary(spaceId: string): string
  /** Removes every file of a space, and its data wherever it is. */
  remove(spaceId: string): Promise<void>
  /** Whether so little of the disk is free that spaces may write nothing. The rest is kept for the database of the host. */
  isFull(): boolean
}

/** A line that an application printed, without secrets. */
export interface PrintedLine {
  /** Unix milliseconds. */
  at: number
  /** `info` is stdout, `error` is stderr. */
  level: 'info' | 'error'
  text: string
}

export interface PrintedFilter {
  /** Unix milliseconds: lines of this moment and later. */
  since?: number
  level?: PrintedLine['level']
}

/** The last lines of a space, over all of its children. */
export interface PrintedLines {
  /** The last `count` lines that fit the filter, the oldest first. */
  last(count: number, filter?: PrintedFilter): PrintedLine[]
  /** Calls back with each new line. The result ends it. */
  follow(callback: (line: PrintedLine) => void): () => void
}

export interface ChildStatus {
  /** `crashed`: down, and after many crashes it is started again at long intervals only. */
  state: 'stopped' | 'starting' | 'ready' | 'crashed'
  /** Of the child that takes new requests; null when there is none. */
  release: number | null
  memoryBytes: number
  /** How often it was started without being asked to. */
  restarts: number
  /** Requests that its child answers now. */
  requests: number
  /** Releases that still answer requests from before the last switch. */
  draining: readonly number[]
}

/** The processes that run the applications of spaces. */
export interface Children {
  /**
   * Starts a release beside the running child and switches to it when it is healthy. When it is not, the former child goes on.
   *
   * @param release default: the one in force
   * @returns what the application registers and this host does not do, a sentence each
   * @throws {AuthError} `bundle_invalid`, `application_timeout`; the message has no secret
   */
  start(spaceId: string, release?: number): Promise<{ warnings: readonly string[] }>
  /** Running requests get 30 s, then the processes of the space end. */
  stop(spaceId: string): Promise<void>
  /** As `stop`, and forgets the log and the open data of the space. */
  remove(spaceId: string): Promise<void>
  status(spaceId: string): ChildStatus
  logs(spaceId: string): PrintedLines
}
