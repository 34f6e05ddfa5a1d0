import { hasMethods, memberOf } from '../../../lib/members.js'
import type { CodehooksDatastore } from '../../../settings/database.js'
import type { Condition, Page, Query } from '../../unit.js'
import type { Found, Row } from './document.js'
import { isNotFound, methodOf, rowOf, textOf } from './platform-values.js'
import { matches, sortAndCut } from './query.js'

/** The few calls that the store is built on. Each rejects when the platform does, or takes longer than a call may. */
export interface Connection {
  find(collection: string, query: Query, page?: Page): Promise<Found[]>
  insert(collection: string, key: string, row: Row): Promise<void>
  update(collection: string, id: string, row: Row): Promise<void>
  /** One that is gone already is no fault. */
  remove(collection: string, id: string): Promise<void>
  /** Where the platform has no such call, nothing happens. */
  createIndex(collection: string, fields: readonly string[]): Promise<void>
  getText(key: string): Promise<string | null>
  setText(key: string, text: string): Promise<void>
  deleteKey(key: string): Promise<void>
  /** Adds 1 and returns the sum; the one call that is atomic. */
  increment(key: string): Promise<number>
}

/** How `getMany` takes a condition: as its second argument (1.2 and later), or as an option. */
export type QueryForm = 'query' | 'filter'

export interface ConnectionOptions {
  datastore: CodehooksDatastore
  /** A call that is not answered within this time has failed, and may still happen. */
  callMs: number
  queryForm: QueryForm
}

/** No answer in time: what was asked for may happen yet. */
export class TimedOut extends Error {}

/** Isolates our keys from those of the application; it goes with every call. */
const keyspace = 'latchkey'

const noNumber = 'database: incr of this Datastore answers no number. Pass the Datastore of codehooks-js.'

/** What the platform has is opened anew for each call: it may hand out connections that live as long as a request. */
export function createConnection({ datastore, callMs, queryForm }: ConnectionOptions): Connection {
  function call(name: string, ...input: unknown[]): Promise<unknown> {
    return within(callMs, async () => {
      const connection = await datastore.open()
      return methodOf(connection, name)(...input)
    })
  }

  async function find(collection: string, query: Query, page: Page = {}): Promise<Found[]> {
    const filter = toFilter(query)
    const options = { ...toOptions(page), hints: {} }
    const found = await within(callMs, async () => {
      const getMany = methodOf(await datastore.open(), 'getMany')
      const stream =
        queryForm === 'query' ? getMany(collection, filter, options) : getMany(collection, { ...options, filter })
      return methodOf(await stream, 'toArray')()
    })
    // Asked again here: an adapter may know neither operators nor sorting nor limits.
    const rows = (Array.isArray(found) ? found : [])
      .map(rowOf)
      .filter(({ key, row }) => matches({ ...row, key }, query))
    return sortAndCut(rows, page)
  }

  return {
    find,
    insert: async (collection, key, row) => void (await call('insertOne', collection, { ...row, key })),
    update: async (collection, id, row) => void (await call('updateOne', collection, id, { $set: { ...row } })),
    async remove(collection, id) {
      try {
        await call('removeOne', collection, id)
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    },
    async createIndex(collection, fields) {
      const connection = await datastore.open()
      if (hasMethods(connection, ['createIndex'])) {
        await call('createIndex', collection, [...fields])
      }
    },
    async getText(key) {
      try {
        return textOf(await call('get', key, { keyspace }))
      } catch (error) {
        // Some hosts reject so for a key that was never set.
        if (error instanceof Error && error.name === 'TypeError') return null
        throw error
      }
    },
    setText: async (key, text) => void (await call('set', key, text, { keyspace })),
    deleteKey: async (key) => void (await call('del', key, { keyspace })),
    async increment(key) {
      const answer = await call('incr', key, 1, { keyspace })
      const sum = Number(typeof answer === 'object' && answer !== null ? memberOf(answer, 'val') : answer)
      if (!Number.isSafeInteger(sum)) throw new Error(noNumber)
      return sum
    },
  }
}

/** Rejects with what the platform rejected with, as an Error: strings and bare objects are among it. */
function within<T>(milliseconds: number, attempt: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimedOut('The Datastore did not answer in time.')), milliseconds)
    attempt().then(
      (answer) => {
        clearTimeout(timer)
        resolve(answer)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error instanceof Error ? error : new Error('The Datastore refused.', { cause: error }))
      },
    )
  })
}

const operators = new Map(Object.entries({ in: '$in', lt: '$lt', lte: '$lte', gt: '$gt', gte: '$gte', ne: '$ne' }))

/** Only strings and numbers ever stand in a query, so that no value can be an operator. */
function toFilter(query: Query): Record<string, unknown> {
  const entries = Object.entries(query).flatMap(([column, condition]) =>
    condition === undefined ? [] : [[column, toOperators(condition)]],
  )
  return Object.fromEntries(entries)
}

function toOperators(condition: Condition): unknown {
  if (typeof condition !== 'object') return condition
  const entries = Object.entries(condition).flatMap(([name, value]) => {
    const operator = operators.get(name)
    return operator === undefined || value === undefined ? [] : [[operator, value]]
  })
  return Object.fromEntries(entries)
}

function toOptions({ sort, limit }: Page): Record<string, unknown> {
  return { ...(sort && { sort }), ...(limit !== undefined && { limit }) }
}
