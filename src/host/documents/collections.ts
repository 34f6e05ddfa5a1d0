import type { Indexes } from '../ports.js'
import {
  type Change,
  type ChangePorts,
  changeAll,
  changeFirst,
  createQueues,
  removeAll,
  removeFirst,
} from './change.js'
import { requirePath } from './expressions.js'
import { compileFilter } from './filter.js'
import { everything, type FindOptions, find, findFirst, findWhole, type Selection } from './find.js'
import { insert, insertMany, requireDocument } from './insert.js'
import { bounds } from './meter.js'
import { requireCollection } from './names.js'
import { createIndexBuilder, createIndexLists, type IndexBuilder } from './reading/index-builder.js'
import { createSlowScans } from './reading/slow-scans.js'
import { queryInvalid } from './store-error.js'
import { applyUpdate, newDocument, type UpdatePorts, updateSteps } from './update.js'
import { type Document, requireShallow } from './values.js'

export interface CollectionsOptions extends Omit<ChangePorts, 'queues' | 'indexLists' | 'slowScans'>, UpdatePorts {
  indexes: Indexes
  /** Milliseconds of a clock that is never set back. */
  nowMs(): number
  /** Gets lines for the log of the space. */
  report(line: string): void
  /** What failed after a call had resolved. */
  onFault(error: unknown): void
}

/** How a collection is found, and a part of an index. */
export interface ChosenOptions extends Partial<FindOptions> {
  /** Values of the field of `useIndex`, both inclusive. */
  start?: unknown
  end?: unknown
}

export interface WriteOptions {
  upsert: boolean
}

/** Documents with the semantics of MongoDB. All methods throw or reject with `StoreError`. */
export interface Collections {
  /** A fault in the filter throws at once, before a response has begun. */
  find(collection: string, filter: unknown, options?: ChosenOptions): AsyncGenerator<Document, void, undefined>
  /** As `find`, whole documents, each with the version in which it was found. */
  findVersions(
    collection: string,
    filter: unknown,
    options?: ChosenOptions,
  ): AsyncGenerator<{ document: Document; version: number }, void, undefined>
  /** null when no document matches. */
  findOne(collection: string, filter: unknown): Promise<Document | null>
  insert(collection: string, document: unknown): Promise<Document>
  insertMany(collection: string, documents: readonly unknown[]): Promise<Document[]>
  /** The changed document. null when none matches and `upsert` is off. */
  update(collection: string, filter: unknown, operations: unknown, options: WriteOptions): Promise<Document | null>
  updateMany(collection: string, filter: unknown, operations: unknown, options?: ChosenOptions): Promise<number>
  /** Like `update`, with a whole document, which keeps its `_id`. */
  replace(collection: string, filter: unknown, document: unknown, options: WriteOptions): Promise<Document | null>
  replaceMany(collection: string, filter: unknown, document: unknown, options?: ChosenOptions): Promise<number>
  /** The `_id` of the removed document. null when none matches. */
  remove(collection: string, filter: unknown): Promise<string | null>
  removeMany(collection: string, filter: unknown, options?: ChosenOptions): Promise<number>
  count(collection: string): Promise<number>
  createIndex: IndexBuilder['create']
}

export function createCollections(options: CollectionsOptions): Collections {
  const indexLists = createIndexLists(options.indexes, options.nowMs)
  const ports: ChangePorts = {
    ...options,
    indexLists,
    slowScans: createSlowScans(options.report),
    queues: createQueues(),
  }
  const builder = createIndexBuilder({ indexes: options.indexes, indexLists, onFault: options.onFault })
  const select = (name: string, filter: unknown, { start, end, ...chosen }: ChosenOptions = {}): Selection => {
    requireBounded(chosen)
    return {
      collection: requireCollection(name),
      filter: compileFilter(options.mingo, bounded(filter, chosen.useIndex, start, end)),
      options: { ...everything, ...chosen },
    }
  }
  const first = ({ filter }: Selection) => newDocument(filter.criteria, options.newId)
  const updating =
    (operations: unknown, { filter }: Selection, inserted = false): Change =>
    (document) => {
      const steps = updateSteps(operations, document)
      return filter.effort.perform(() => applyUpdate(options, document, { operations, inserted }), steps)
    }

  return {
    find: (name, filter, chosen) => find(ports, select(name, filter, chosen)),
    findVersions: (name, filter, chosen) => findWhole(ports, select(name, filter, chosen)),
    findOne: (name, filter) => findFirst(ports, select(name, filter)),
    insert: (name, document) => insert(ports, requireCollection(name), document),
    insertMany: (name, sent) => insertMany(ports, requireCollection(name), sent),
    update(name, filter, operations, { upsert }) {
      const selection = select(name, filter)
      const insertion = upsert ? () => updating(operations, selection, true)(first(selection)) : null
      return changeFirst(ports, selection, { change: updating(operations, selection), insertion })
    },
    updateMany(name, filter, operations, chosen) {
      const selection = select(name, filter, chosen)
      return changeAll(ports, selection, updating(operations, selection))
    },
    replace(name, filter, document, { upsert }) {
      const selection = select(name, filter)
      const change = replacing(document)
      return changeFirst(ports, selection, { change, insertion: upsert ? () => change(first(selection)) : null })
    },
    replaceMany: (name, filter, document, chosen) =>
      changeAll(ports, select(name, filter, chosen), replacing(document)),
    remove: (name, filter) => removeFirst(ports, select(name, filter)),
    removeMany: (name, filter, chosen) => removeAll(ports, select(name, filter, chosen)),
    count: (name) => options.documents.count(requireCollection(name)),
    createIndex: builder.create,
  }
}

/** @throws {StoreError} `query_invalid` */
function requireBounded({ sort, projection }: ChosenOptions): void {
  const fields = Object.keys(sort ?? {})
  if (fields.length > bounds.sortFields) throw queryInvalid(`A sort takes at most ${bounds.sortFields} fields.`)
  fields.forEach(requirePath)
  requireShallow(projection, 'The list of fields')
  Object.keys(projection ?? {}).forEach(requirePath)
}

/** The filter, and the bounds of the index that is to be read. */
function bounded(filter: unknown, useIndex: string | null | undefined, start: unknown, end: unknown): unknown {
  const bounds = { ...(start !== undefined && { $gte: start }), ...(end !== undefined && { $lte: end }) }
  if (typeof useIndex !== 'string' || Object.keys(bounds).length === 0) return filter
  return { $and: [filter ?? {}, { [useIndex]: bounds }] }
}

function replacing(sent: unknown): Change {
  const fields = requireDocument(sent)
  return ({ _id }) => ({ ...fields, _id })
}
