import type { CodehooksDatastore } from '../../../settings/database.js'
import { type Connection, createConnection } from './connection.js'

/** What was found out about a Datastore by trying. */
export interface Probed {
  connection: Connection
  /** Of many that add 1 at once, each got a sum of its own. Else several processes at once are promised nothing. */
  incrementsApart: boolean
}

const collection = 'latchkey_probe'
const atOnce = 10

/**
 * Tries what the store is built on, with documents and keys of its own, which it removes again.
 *
 * @throws {Error} in words when this Datastore cannot be built on
 */
export async function probe(
  datastore: CodehooksDatastore,
  { callMs, randomId }: { callMs: number; randomId(): string },
): Promise<Probed> {
  const name = randomId()
  for (const queryForm of ['query', 'filter'] as const) {
    const connection = createConnection({ datastore, callMs, queryForm })
    if (await answersQueries(connection, `${name}-${queryForm}`)) {
      return { connection, incrementsApart: await incrementsApart(connection, `probe:${name}`) }
    }
  }
  throw new Error(
    'database: this Datastore does not find documents by their fields, or does not keep what it is given. Pass the Datastore of codehooks-js.',
  )
}

/** Writes, finds, changes and removes; false when what is found is not what was written. */
async function answersQueries(connection: Connection, name: string): Promise<boolean> {
  const row = { text: name, number: 1_700_000_000_000, nothing: null }
  await connection.insert(collection, name, row)
  await connection.insert(collection, `${name}-other`, row)
  const [found] = await connection.find(collection, { key: name })
  const [other] = await connection.find(collection, { key: { in: [`${name}-other`] }, number: { lte: row.number } })
  if (found) await connection.update(collection, found.id, { ...row, text: 'changed' })
  const [changed] = await connection.find(collection, { key: name, text: 'changed' })
  for (const each of [found, other]) if (each) await connection.remove(collection, each.id)
  const [left] = await connection.find(collection, { key: name })
  return other?.row.number === row.number && changed?.row.number === row.number && left === undefined
}

async function incrementsApart(connection: Connection, key: string): Promise<boolean> {
  await connection.setText(`${key}:text`, '{}')
  if ((await connection.getText(`${key}:text`)) !== '{}') {
    throw new Error(
      'database: this Datastore does not keep the texts it is given under a key. Pass the Datastore of codehooks-js.',
    )
  }
  const sums = await Promise.all(Array.from({ length: atOnce }, () => connection.increment(key)))
  await Promise.all([connection.deleteKey(key), connection.deleteKey(`${key}:text`)])
  return new Set(sums).size === atOnce && Math.max(...sums) === atOnce
}
