import type { Indexes, IndexState } from '../../ports.js'
import { requireCollection, requireField } from '../names.js'
import { queryInvalid } from '../store-error.js'

interface IndexBuilderPorts {
  indexes: Indexes
  indexLists: IndexLists
  /** What failed after a call had resolved. */
  onFault(error: unknown): void
}

/** Makes indexes of this process, one at a time. */
export interface IndexBuilder {
  /**
   * Makes an index on each field, unless there is one. Resolves when the first 1,000 documents of the collection are in it; the
   * others follow in the background. `_id` needs no index.
   *
   * @throws {StoreError} `query_invalid`, `quota_exceeded`, `store_unavailable`
   */
  create(collection: unknown, fields: readonly unknown[], isUnique: boolean): Promise<void>
  /** Resolves when nothing is being built. */
  idle(): Promise<void>
}

export function createIndexBuilder(ports: IndexBuilderPorts): IndexBuilder {
  let last: Promise<void> = Promise.resolve()

  /** Runs a step after all before it. */
  function queued<T>(step: () => Promise<T>): Promise<T> {
    const result = last.then(step)
    last = result.then(ignore, ignore)
    return result
  }

  async function createOne(collection: string, field: string, isUnique: boolean): Promise<void> {
    const isReady = await queued(() => begin(ports, collection, field, isUnique))
    if (!isReady) void queued(() => finish(ports, collection, field)).catch(ports.onFault)
  }

  return {
    async create(sent, fields, isUnique) {
      const collection = requireCollection(sent)
      const named = fields.filter((field) => field !== '_id').map(requireField)
      if (isUnique && fields.length > 1) throw queryInvalid('A unique index takes one field.')
      for (const field of named) await createOne(collection, field, isUnique)
    },
    idle: () => last,
  }
}

/** Whether the index is ready after its first page. */
async function begin(ports: IndexBuilderPorts, collection: string, field: string, isUnique: boolean): Promise<boolean> {
  const { indexes, indexLists } = ports
  const isNew = await indexes.create(collection, field, isUnique)
  const known = isNew ? null : (await indexes.list(collection)).find((each) => each.field === field)
  if (known && isUnique && !known.isUnique) {
    throw queryInvalid(`The index on ${field} exists and is not unique. Remove it first: latchkey removeindex.`)
  }
  indexLists.forget(collection)
  return known?.state === 'ready' || (await indexes.build(collection, field)).isReady
}

async function finish({ indexes, indexLists }: IndexBuilderPorts, collection: string, field: string): Promise<void> {
  while (!(await indexes.build(collection, field)).isReady);
  indexLists.forget(collection)
}

function ignore(): void {}

/** The indexes of collections, as they were a second ago at most. */
export interface IndexLists {
  of(collection: string): Promise<readonly IndexState[]>
  /** The next call reads the list again. */
  forget(collection: string): void
}

const keptMs = 1_000
const maxCollections = 1_000

/** @param nowMs milliseconds of a clock that is never set back */
export function createIndexLists(indexes: Pick<Indexes, 'list'>, nowMs: () => number): IndexLists {
  const lists = new Map<string, { endsAt: number; list: Promise<readonly IndexState[]> }>()
  return {
    of(collection) {
      const known = lists.get(collection)
      if (known && nowMs() < known.endsAt) return known.list
      if (lists.size >= maxCollections) lists.clear()
      const list = indexes.list(collection)
      lists.set(collection, { endsAt: nowMs() + keptMs, list })
      list.catch(() => lists.delete(collection))
      return list
    },
    forget: (collection) => void lists.delete(collection),
  }
}
