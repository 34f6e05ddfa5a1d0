import type { Indexes, IndexState } from '../../ports.js'

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
