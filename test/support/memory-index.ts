import { keysOf } from '../../src/host/documents/keys.js'
import type { Index, Plan } from '../../src/host/documents/plan.js'
import type { Document } from '../../src/host/documents/values.js'

interface Entry {
  key: Buffer
  id: string
}

/** An index in memory: the entries of documents by key, then by `_id`. */
export interface MemoryIndex extends Index {
  entries: readonly Entry[]
}

const byId = (one: Entry, other: Entry) => Buffer.compare(Buffer.from(one.id), Buffer.from(other.id))

export function createMemoryIndex(field: string, documents: readonly Document[]): MemoryIndex {
  const keys = documents.map((document) => ({ id: document._id, ...keysOf(document, field) }))
  const entries = keys.flatMap(({ id, entries: own }) => own.map((key): Entry => ({ key, id })))
  return {
    field,
    isMultikey: keys.some(({ isMultikey }) => isMultikey),
    isOrdered: keys.every(({ isOrdered }) => isOrdered),
    entries: entries.sort((one, other) => Buffer.compare(one.key, other.key) || byId(one, other)),
  }
}

/** The `_id`s that a choice of a plan reaches, in the order of the plan, each of them once. */
export function reached({ entries }: MemoryIndex, choice: Plan['choices'][number], order: Plan['order']): string[] {
  const found = choice.flatMap(({ from, to }) =>
    entries.filter(({ key }) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0),
  )
  if (order === -1) found.sort((one, other) => Buffer.compare(other.key, one.key) || byId(one, other))
  return [...new Set(found.map(({ id }) => id))]
}
