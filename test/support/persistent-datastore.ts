import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'

type Document = Record<string, unknown> & { _id: string }
type Filter = Readonly<Record<string, unknown>>
type Id = string | Filter

export interface PersistentOptions {
  /** A file that any number of processes may open. */
  file: string
  /** `current`: `getMany(collection, query, options)`. `old`: as the adapters for version 1.1 have it. Default: current. */
  signatures?: 'current' | 'old'
  /** `read-back`: adds and then reads the sum, so that two at once may get the same. Default: atomic. */
  incr?: 'atomic' | 'read-back'
  /** Called before each call of the platform; what it rejects with, the call rejects with. */
  before?: (name: string) => Promise<void>
  /** The same after it has happened. */
  after?: (name: string) => Promise<void>
}

export interface PersistentDatastore {
  open(): Promise<PersistentConnection>
  close(): void
}

export type PersistentConnection = ReturnType<typeof createCalls>

/**
 * A codehooks Datastore in a file: documents and keys, found by the operators that the platform documents, and as loose
 * as it: no transaction, no unique index, nothing atomic across calls but `incr`. Every call gives way to others first and
 * last, so that races show.
 */
export function createPersistentDatastore(options: PersistentOptions): PersistentDatastore {
  const db = new Database(options.file, { timeout: 5_000 })
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = off')
  db.exec(`create table if not exists documents (id text primary key, collection text not null, body text not null);
    create index if not exists documents_collection on documents (collection);
    create table if not exists keys (keyspace text, key text, val text, expires_at integer, primary key (keyspace, key))`)
  const connection = createCalls(db, options)
  return { open: async () => connection, close: () => db.close() }
}

function createCalls(db: Database.Database, options: PersistentOptions) {
  const old = options.signatures === 'old'

  /** Turns a plain function into a call of the platform. */
  async function call<T>(name: string, run: () => T): Promise<T> {
    await options.before?.(name)
    await setImmediate()
    const answer = run()
    await setImmediate()
    await options.after?.(name)
    return answer
  }

  /** One rejects with a bare text where nothing is found, as hosts do. */
  function one(collection: string, id: Id): Document {
    const [found] = findDocuments(db, collection, queryOf(id))
    if (!found) throw 'Not found'
    return found
  }

  function save(collection: string, document: Document): Document {
    const { _id, ...body } = document
    db.prepare('insert or replace into documents values (?, ?, ?)').run(String(_id), collection, JSON.stringify(body))
    return document
  }

  function remove(documents: readonly Document[]): void {
    for (const { _id } of documents) db.prepare('delete from documents where id = ?').run(String(_id))
  }

  /** What an id is, nobody promises. */
  const shown = (document: Document): Document =>
    old ? { ...document, _id: new IdObject(document._id) as unknown as string } : document

  return {
    insertOne: (collection: string, document: Filter) =>
      call('insertOne', () => shown(save(collection, { _id: newId(), ...document }))),
    getOne: (collection: string, id: Id) => call('getOne', () => shown(one(collection, id))),
    getMany(collection: string, query: Filter = {}, given: Filter = {}) {
      const found = () => {
        const filter = old ? (query.filter ?? {}) : query
        // Adapters of old know neither order nor limit.
        return findDocuments(db, collection, filter as Filter, old ? {} : given).map(shown)
      }
      const toArray = () => call('getMany', found)
      return {
        toArray,
        forEach: async (visit: (document: Document) => void) => (await toArray()).forEach(visit),
        json: async (res: { json(value: unknown): unknown }) => res.json(await toArray()),
      }
    },
    findOneOrNull: (collection: string, id: Id) =>
      call('findOneOrNull', () => {
        const [found] = findDocuments(db, collection, queryOf(id))
        return found ? shown(found) : null
      }),
    updateMany: (collection: string, filter: Filter, operations: Filter) =>
      call('updateMany', () => {
        const found = findDocuments(db, collection, filter)
        for (const document of found) save(collection, merged(document, operations))
        return { count: found.length }
      }),
    removeMany: (collection: string, filter: Filter) =>
      call('removeMany', () => {
        const found = findDocuments(db, collection, filter)
        remove(found)
        return { count: found.length }
      }),
    updateOne: (collection: string, id: Id, operations: Filter) =>
      call('updateOne', () => shown(save(collection, merged(one(collection, id), operations)))),
    replaceOne: (collection: string, id: Id, document: Filter) =>
      call('replaceOne', () => shown(save(collection, { ...document, _id: one(collection, id)._id }))),
    removeOne: (collection: string, id: Id) =>
      call('removeOne', () => {
        const document = one(collection, id)
        remove([document])
        return { _id: document._id }
      }),
    ...(old
      ? {}
      : {
          createIndex: (collection: string, fields: readonly string[]) =>
            call('createIndex', () => createIndex(db, collection, fields)),
        }),
    ...createKeyCalls(db, options, call),
  }
}

function createKeyCalls(
  db: Database.Database,
  { incr = 'atomic', signatures }: PersistentOptions,
  call: <T>(name: string, run: () => T) => Promise<T>,
) {
  const until = (ttl?: number) => (ttl === undefined || signatures === 'old' ? null : Date.now() + ttl)
  const read = (key: string, keyspace: string): string | null =>
    (db
      .prepare('select val from keys where keyspace = ? and key = ? and (expires_at is null or expires_at > ?)')
      .pluck()
      .get(keyspace, key, Date.now()) as string | undefined) ?? null
  const add = (key: string, count: number, keyspace: string, ttl?: number) => {
    db.prepare('delete from keys where expires_at <= ?').run(Date.now())
    return db
      .prepare(
        `insert into keys values (?, ?, ?, ?)
         on conflict do update set val = cast(val as integer) + excluded.val, expires_at = excluded.expires_at returning val`,
      )
      .pluck()
      .get(keyspace, key, String(count), until(ttl))
  }
  return {
    set: (key: string, value: string, { keyspace = '', ttl }: { keyspace?: string; ttl?: number } = {}) =>
      call('set', () => {
        db.prepare('insert or replace into keys values (?, ?, ?, ?)').run(keyspace, key, value, until(ttl))
        return value
      }),
    get: (key: string, { keyspace = '' }: { keyspace?: string } = {}) => call('get', () => read(key, keyspace)),
    del: (key: string, { keyspace = '' }: { keyspace?: string } = {}) =>
      call('del', () => void db.prepare('delete from keys where keyspace = ? and key = ?').run(keyspace, key)),
    async incr(key: string, count: number, { keyspace = '', ttl }: { keyspace?: string; ttl?: number } = {}) {
      const sum = await call('incr', () => Number(add(key, count, keyspace, ttl)))
      // Some hosts answer an object.
      return incr === 'atomic' ? sum : { val: Number(await call('incr', () => read(key, keyspace))) }
    },
  }
}

/** As a driver for MongoDB has them: equal to nothing but themselves, and a text when asked. */
class IdObject {
  readonly #id: string
  constructor(id: unknown) {
    this.#id = String(id)
  }
  toString(): string {
    return this.#id
  }
}

function queryOf(id: Id): Filter {
  return typeof id === 'object' && !(id instanceof IdObject) ? id : { _id: String(id) }
}

let made = 0

/** Opaque, and its own in every process. */
function newId(): string {
  made += 1
  return `${process.pid.toString(16)}${performance.timeOrigin.toString(36)}-${made}`
}

/** A document without operators is merged, like `$set`. Dots in names mean nothing. */
function merged(document: Document, operations: Filter): Document {
  const set = operations.$set ?? operations
  if (Object.keys(set as object).length === 0) throw { error: '$set must not be empty' }
  return { ...document, ...(set as object), _id: document._id }
}

const operators: Readonly<Record<string, string>> = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=', $ne: 'is not' }

function findDocuments(
  db: Database.Database,
  collection: string,
  filter: Filter,
  { sort = {}, limit }: { sort?: Readonly<Record<string, number>>; limit?: number } = {},
): Document[] {
  const values: unknown[] = [collection]
  const conditions = Object.entries(filter).flatMap(([name, wanted]) => {
    const column = columnOf(name)
    if (typeof wanted !== 'object' || wanted === null) {
      values.push(wanted)
      return [`${column} is ?`]
    }
    return Object.entries(wanted).map(([operator, value]) => {
      if (operator === '$in') {
        values.push(...(value as unknown[]))
        return `${column} in (${(value as unknown[]).map(() => '?').join(', ')})`
      }
      if (!operators[operator]) throw { message: `unknown operator ${operator}` }
      values.push(value)
      return `${column} ${operators[operator]} ?`
    })
  })
  const order = Object.entries(sort).map(([name, direction]) => `${columnOf(name)} ${direction === 1 ? 'asc' : 'desc'}`)
  const sql = `select id, body from documents where ${['collection = ?', ...conditions].join(' and ')}
    ${order.length > 0 ? `order by ${order.join(', ')}` : ''} ${limit === undefined ? '' : `limit ${Number(limit)}`}`
  const rows = db.prepare(sql).all(values) as { id: string; body: string }[]
  return rows.map(({ id, body }) => ({ ...JSON.parse(body), _id: id }))
}

function columnOf(name: string): string {
  if (!/^\w+$/.test(name)) throw { message: 'unknown field' }
  return name === '_id' ? 'id' : `json_extract(body, '$.${name}')`
}

function createIndex(db: Database.Database, collection: string, fields: readonly string[]): void {
  for (const field of fields) {
    db.exec(`create index if not exists index_${collection}_${field} on documents (collection, ${columnOf(field)})
      where collection = '${collection}'`)
  }
}
