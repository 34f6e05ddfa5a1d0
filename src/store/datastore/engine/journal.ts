import type { Connection } from './connection.js'
import type { Row } from './document.js'

/** One document as it is to be: `row` null takes it away. */
export interface Write {
  collection: string
  key: string
  /** The platform's ids of what was found under that key; none: it is new. More than one is what a late call left behind. */
  ids: readonly string[]
  row: Row | null
  /** Written once everything else is: whoever reads it may rely on the rest. */
  last?: true
}

/** All the writes of a step, kept as one text before the first of them is made. */
export interface Journal {
  id: string
  writes: readonly Write[]
}

/**
 * Makes the writes, side by side, the last ones last. `anew`: some of them may have been made before; each is such that
 * making it again changes nothing.
 */
export async function apply(connection: Connection, { writes }: Journal, anew: boolean): Promise<void> {
  const first = writes.filter(({ last }) => !last)
  await all(first.map((write) => makeWrite(connection, write, anew)))
  await all(writes.filter(({ last }) => last).map((write) => makeWrite(connection, write, anew)))
}

/** Like `Promise.all`, but waits for every one: none may be under way when the step is given up or made again. */
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
