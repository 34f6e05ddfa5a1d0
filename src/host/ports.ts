/**
 * What a `put` or `remove` expects to find: the version that the caller read, `absent` for no document, `any` for both.
 */
export type IfVersion = number | 'absent' | 'any'

/** A document as the store keeps it: JSON text that only the child reads. */
export interface StoredDocument {
  id: string
  /** From one counter of the space. Never used twice, not even by a document that is removed and made again. */
  version: number
  body: string
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
  count(collection: string): Promise<number>
  /** Removes the collection and all its documents. */
  drop(collection: string): Promise<void>
  /** In order of their names. */
  list(): Promise<readonly CollectionSize[]>
}

export interface KeyValue {
  key: string
  value: string
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
