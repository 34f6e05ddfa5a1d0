import type { Connection } from './connection.js'
import type { Row } from './document.js'

/** The wanted state of one document; with `row` null it is removed. */
export interface Write {
  collection: string
  key: string
  /** The platform's ids of the documents under that key; none: it is new. A late call may have left more than one. */
  ids: readonly string[]
  row: Row | null
  /** Written after everything else, so that a reader who finds it can rely on the rest. */
  last?: true
}

/** All the writes of a step, stored as one text before the first of them is made. */
export interface Journal {
  id: string
  writes: readonly Write[]
}

/**
 * Makes the writes in parallel, those marked `last` at the end. `anew`: some of them may have been made before. Each write is
 * idempotent, so that is safe.
 */
export async function apply(connection: Connection, { writes }: Journal, anew: boolean): Promise<void> {
  const first = writes.filter(({ last }) => !last)
  await all(first.map((write) => makeWrite(connection, write, anew)))
  await all(writes.filter(({ last }) => last).map((write) => makeWrite(connection, write, anew)))
}

/** Like `Promise.all`, but waits for every one: no write may be under way when the step is given up or repeated. */
async function all(attempts: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(attempts)) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
}

async function makeWrite(connection: Connection, { collection, key, ids, row }: Write, anew: boolean): Promise<void> {
  const isNew = ids.length === 0
  const known = isNew && anew ? (await connection.find(collection, { key })).map(({ id }) => id) : ids
  const [id, ...surplus] = known
  if (row === null) return removeAll(connection, collection, known)
  if (id === undefined) return connection.insert(collection, key, row)
  await connection.update(collection, id, row)
  await removeAll(connection, collection, surplus)
}

async function removeAll(connection: Connection, collection: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) await connection.remove(collection, id)
}
