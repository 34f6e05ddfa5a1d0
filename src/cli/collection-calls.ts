/** Calls on the data of the chosen space. Each is one route. A refusal rejects with a `ToolError`. */
export interface DataCalls {
  /** Builds one index a field. Resolves to the number of documents of the collection. @throws `index_exists`, `query_invalid` */
  createIndex(
    collection: string,
    wanted: { fields: readonly string[]; unique: boolean },
    onStep: OnIndexStep,
  ): Promise<number>
  /** False: there was no such index. @throws `query_invalid` */
  removeIndex(collection: string, field: string): Promise<boolean>
  /** The rows of a query, each as JSON text. @throws `query_invalid`; `answer_cut` after the rows that have arrived */
  query(collection: string, query: Query): Promise<Rows>
  /** How many documents a query finds, or a write has changed. */
  count(collection: string, query: Query): Promise<number>
  /** All documents in `_id` order, each as JSON text. */
  exportRows(collection: string): Promise<Rows>
  importRows(collection: string, upload: ImportUpload): Promise<Imported>
}

/** MongoDB's semantics, in JSON: dates are `{ "$date": … }`, patterns `{ "$regex": …, "$options": "i" }`. */
export type Filter = Readonly<Record<string, unknown>>

/** The body of a query. */
export interface Query {
  filter?: Filter
  /** Field → 1 or -1. */
  sort?: Readonly<Record<string, 1 | -1>>
  /** Field → 1 or 0. */
  fields?: Readonly<Record<string, 0 | 1>>
  limit?: number
  offset?: number
  /** In descending order. */
  reverse?: boolean
  /** The field of an index, whose entries from `start` to `end` are read. */
  useIndex?: string
  start?: unknown
  end?: unknown
  /** Answers with the number only. */
  count?: boolean
  /** Changes every document that matches. Only one of these three. */
  update?: Readonly<Record<string, unknown>>
  replace?: Readonly<Record<string, unknown>>
  delete?: boolean
}

/** Rows as they arrive. They are whole when the iteration ends without an error. */
export type Rows = AsyncIterable<string>

export type OnIndexStep = (step: { processed: number; of: number; field: string }) => void

export interface ImportUpload {
  /** JSONL. Called again when the credential had to be renewed. */
  open(): AsyncIterable<Uint8Array>
  /** Checks everything, writes nothing. */
  dryrun: boolean
  /** Replaces documents whose `_id` exists. */
  upsert: boolean
}

/** `failed` holds the first 1,000 faults, by the lines of what was sent. */
export interface Imported {
  imported: number
  failed: readonly { line: number; fault: string }[]
}
