import type { Documents, StoredDocument } from '../ports.js'
import { compileFilter, type Filter } from './filter.js'
import { everything, type FindOptions, find } from './find.js'
import type { Mingo } from './mingo.js'
import { requireCollection, requireId } from './names.js'
import { createQueues, type Queues } from './queues.js'
import { isStoreError, queryInvalid, StoreError } from './store-error.js'
import { applyUpdate, type UpdateOptions } from './update.js'
import { newDocument } from './upsert.js'
import { type Document, decode, encode, isPlain } from './values.js'

export interface CollectionsOptions extends UpdateOptions {
  documents: Documents
  mingo: Mingo
  /** A new `_id`: 24 hexadecimal digits, time first. */
  newId(): string
  /** Waits before the next try of an update that another process overtook; the attempt counts from 0. */
  pause(attempt: number): Promise<void>
}

export interface WriteOptions {
  upsert: boolean
}

/** Documents with the semantics of MongoDB. All methods throw or reject with `StoreError`. */
export interface Collections {
  /** Faults of the filter throw at once, so that an answer has not begun yet. */
  find(collection: string, filter: unknown, options?: Partial<FindOptions>): AsyncGenerator<Document, void, undefined>
  /** null: there is none. */
  findOne(collection: string, filter: unknown): Promise<Document | null>
  insert(collection: string, document: unknown): Promise<Document>
  insertMany(collection: string, documents: readonly unknown[]): Promise<Document[]>
  /** The changed document; null when none matches and `upsert` is off. */
  update(collection: string, filter: unknown, operations: unknown, options: WriteOptions): Promise<Document | null>
  updateMany(collection: string, filter: unknown, operations: unknown, options?: Partial<FindOptions>): Promise<number>
  /** Like `update`, with a whole document, which keeps its `_id`. */
  replace(collection: string, filter: unknown, document: unknown, options: WriteOptions): Promise<Document | null>
  replaceMany(collection: string, filter: unknown, document: unknown, options?: Partial<FindOptions>): Promise<number>
  /** The `_id` of the removed document; null when none matches. */
  remove(collection: string, filter: unknown): Promise<string | null>
  removeMany(collection: string, filter: unknown, options?: Partial<FindOptions>): Promise<number>
  count(collection: string): Promise<number>
}

interface Wired extends CollectionsOptions {
  queues: Queues
}

/** Makes the new document of the old one. */
type Change = (document: Document) => Document
type Row = Pick<StoredDocument, 'id' | 'body'>

const tries = 20
/** `putMany` of the port takes 1,000 documents, and the wire 16 MiB, in which each quote has a second character. */
const batch = { documents: 1_000, characters: 4 * 1024 * 1024 }

export function createCollections(options: CollectionsOptions): Collections {
  const wired: Wired = { ...options, queues: createQueues() }
  const { documents, mingo } = options
  const compile = (filter: unknown) => compileFilter(mingo, filter)
  const updating = (operations: unknown) => (document: Document) => applyUpdate(mingo, document, operations, options)
  const replacing = (sent: unknown) => {
    const fields = requireDocument(sent)
    return (document: Document) => ({ ...fields, _id: document._id })
  }
  const findAll = (name: string, filter: Filter, chosen: Partial<FindOptions> = {}) =>
    find(wired, name, filter, { ...everything, ...chosen })

  return {
    find: (name, filter, chosen) => findAll(requireCollection(name), compile(filter), chosen),
    findOne: (name, filter) => first(findAll(requireCollection(name), compile(filter), { limit: 1 })),
    insert: (name, document) => insert(wired, requireCollection(name), document),
    insertMany: (name, sent) => insertMany(wired, requireCollection(name), sent),
    update: (name, filter, operations, { upsert }) => {
      const insertion = (found: Filter) =>
        applyUpdate(mingo, newDocument(found.criteria, options.newId), operations, options, true)
      return changeFirst(
        wired,
        requireCollection(name),
        compile(filter),
        updating(operations),
        upsert ? insertion : null,
      )
    },
    updateMany: (name, filter, operations, chosen) =>
      changeAll(wired, requireCollection(name), compile(filter), updating(operations), chosen),
    replace: (name, filter, document, { upsert }) => {
      const insertion = (found: Filter) => replacing(document)(newDocument(found.criteria, options.newId))
      return changeFirst(
        wired,
        requireCollection(name),
        compile(filter),
        replacing(document),
        upsert ? insertion : null,
      )
    },
    replaceMany: (name, filter, document, chosen) =>
      changeAll(wired, requireCollection(name), compile(filter), replacing(document), chosen),
    remove: (name, filter) => removeFirst(wired, requireCollection(name), compile(filter)),
    removeMany: (name, filter, chosen) => removeAll(wired, requireCollection(name), compile(filter), chosen),
    count: (name) => documents.count(requireCollection(name)),
  }
}

async function first<T>(found: AsyncIterable<T>): Promise<T | null> {
  for await (const each of found) return each
  return null
}

async function insert({ documents, newId }: Wired, collection: string, sent: unknown): Promise<Document> {
  const document = withId(sent, newId)
  await documents.put(collection, document._id, encode(document), 'absent').catch(explainDuplicate)
  return document
}

async function insertMany(wired: Wired, collection: string, sent: readonly unknown[]): Promise<Document[]> {
  const made = sent.map((each) => withId(each, wired.newId))
  const rows = made.map((document) => ({ id: document._id, body: encode(document) }))
  for (const each of batchesOf(rows)) {
    const existing = await wired.documents.putMany(collection, each, 'absent')
    if (existing.length > 0) throw duplicate()
  }
  return made
}

function* batchesOf(rows: readonly Row[]): Generator<readonly Row[], void, undefined> {
  let [begin, characters] = [0, 0]
  for (const [index, { body }] of rows.entries()) {
    const count = index - begin
    if (count === batch.documents || (count > 0 && characters + body.length > batch.characters)) {
      yield rows.slice(begin, index)
      begin = index
      characters = 0
    }
    characters += body.length
  }
  if (begin < rows.length) yield rows.slice(begin)
}

function withId(sent: unknown, newId: () => string): Document {
  const { _id: id, ...fields } = requireDocument(sent)
  return { _id: id === undefined ? newId() : requireId(id), ...fields }
}

function requireDocument(sent: unknown): Record<string, unknown> {
  if (!isPlain(sent)) throw queryInvalid('A document must be an object.')
  return sent
}

function duplicate(cause?: unknown): StoreError {
  return new StoreError('not_current', 'A document with this _id exists already.', cause)
}

function explainDuplicate(error: unknown): never {
  throw isStoreError(error, 'not_current') ? duplicate(error) : error
}

/** Changes the first match. When another process changed it meanwhile so that it no longer matches, the next one counts. */
async function changeFirst(
  wired: Wired,
  collection: string,
  filter: Filter,
  change: Change,
  insertion: ((filter: Filter) => Document) | null,
): Promise<Document | null> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const found = await first(find(wired, collection, filter, { ...everything, limit: 1 }))
    if (found) {
      const changed = await changeOne(wired, collection, found._id, filter, change)
      if (changed) return changed
    } else if (insertion === null) return null
    else {
      try {
        return await insert(wired, collection, insertion(filter))
      } catch (error) {
        // Another process inserted it first: that one is changed then.
        if (!isStoreError(error, 'not_current') || filter.id === null) throw error
      }
    }
    await wired.pause(attempt)
  }
  throw overtaken()
}

/** null: the document is gone, or no longer matches. */
function changeOne(
  wired: Wired,
  collection: string,
  id: string,
  filter: Filter,
  change: Change,
): Promise<Document | null> {
  const { documents, queues, pause } = wired
  return queues.run(`${collection}/${id}`, async () => {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const stored = await documents.get(collection, id)
      const document = stored && decode(id, stored.body)
      if (!document || !filter.matches(document)) return null
      const changed = change(document)
      try {
        await documents.put(collection, id, encode(changed), stored.version)
        return changed
      } catch (error) {
        if (!isStoreError(error, 'not_current')) throw error
        await pause(attempt)
      }
    }
    throw overtaken()
  })
}

function overtaken(): StoreError {
  return new StoreError('not_current', 'The document changed 20 times while it was being updated. Try again.')
}

async function changeAll(
  wired: Wired,
  collection: string,
  filter: Filter,
  change: Change,
  chosen: Partial<FindOptions> = {},
): Promise<number> {
  let count = 0
  for await (const { _id } of find(wired, collection, filter, { ...everything, ...chosen, projection: null })) {
    if (await changeOne(wired, collection, _id, filter, change)) count += 1
  }
  return count
}

async function removeFirst(wired: Wired, collection: string, filter: Filter): Promise<string | null> {
  const found = await first(find(wired, collection, filter, { ...everything, limit: 1 }))
  if (!found) return null
  return (await removeOne(wired, collection, found._id, filter)) ? found._id : removeFirst(wired, collection, filter)
}

async function removeAll(
  wired: Wired,
  collection: string,
  filter: Filter,
  chosen: Partial<FindOptions> = {},
): Promise<number> {
  let count = 0
  for await (const { _id } of find(wired, collection, filter, { ...everything, ...chosen, projection: null })) {
    if (await removeOne(wired, collection, _id, filter)) count += 1
  }
  return count
}

/** Removes the version that was seen to match, so that a change in between is never lost. */
function removeOne(wired: Wired, collection: string, id: string, filter: Filter): Promise<boolean> {
  const { documents, queues, pause } = wired
  return queues.run(`${collection}/${id}`, async () => {
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const stored = await documents.get(collection, id)
      if (!stored || !filter.matches(decode(id, stored.body))) return false
      try {
        return await documents.remove(collection, id, stored.version)
      } catch (error) {
        if (!isStoreError(error, 'not_current')) throw error
        await pause(attempt)
      }
    }
    throw overtaken()
  })
}
