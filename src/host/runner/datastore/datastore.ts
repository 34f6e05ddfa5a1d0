import { Agent, request } from 'node:http'
import type { Collections, WriteOptions } from '../../documents/collections.js'
import { requireId } from '../../documents/names.js'
import { remoteDocuments, remoteIndexes, remoteKeyValues } from '../../documents/remote-ports.js'
import { StoreError } from '../../documents/store-error.js'
import { type Document, isPlain } from '../../documents/values.js'
import { readWireAnswer, type WireAnswer, type WirePort, wireLimits, wirePath } from '../../documents/wire.js'
import type { Documents, Indexes, KeyValues } from '../../ports.js'
import { notSupported, rejecting } from '../files.js'
import { createKeyValueCalls, type KeyValueCalls } from './key-value.js'
import { isOldForm, readFindOptions } from './query-options.js'
import { createRowStream, type RowStream } from './row-stream.js'

/** The document calls of a Datastore connection of codehooks-js. */
interface DocumentCalls {
  getOne(collection: string, query: unknown): Promise<Document>
  findOne(collection: string, query: unknown): Promise<Document>
  findOneOrNull(collection: string, query: unknown): Promise<Document | null>
  /** Not a promise. A bad filter throws at once. */
  getMany(collection: string, query?: unknown, options?: unknown): RowStream
  find(collection: string, query?: unknown, options?: unknown): RowStream
  insertOne(collection: string, document: unknown): Promise<Document | Document[]>
  updateOne(collection: string, query: unknown, operations: unknown, options?: unknown): Promise<Document>
  updateMany(collection: string, query: unknown, operations: unknown, options?: unknown): Promise<{ count: number }>
  replaceOne(collection: string, query: unknown, document: unknown, options?: unknown): Promise<Document>
  replaceMany(collection: string, query: unknown, document: unknown, options?: unknown): Promise<{ count: number }>
  removeOne(collection: string, query: unknown): Promise<{ _id: string }>
  removeMany(collection: string, query?: unknown, options?: unknown): Promise<{ count: number }>
  count(collection: string): Promise<{ count: number }>
  /**
   * Makes an index on each field, unless there is one; `{ unique: true }` with one field. Resolves when the first 1,000
   * documents are in it. The others follow in the background, so that a `startup` never waits for long.
   */
  createIndex(collection: string, fields: unknown, options?: unknown): Promise<{ collection: string; fields: string[] }>
}

export interface Connection extends DocumentCalls, KeyValueCalls {
  /** The document calls without their first argument. */
  collection(name: string): Record<string, unknown>
}

interface DatastoreOptions {
  collections: Collections
  keyValues: KeyValues
}

/** `Datastore.open()` of codehooks-js: every call gives the same connection. */
export function createDatastore(options: DatastoreOptions): { open(): Promise<Connection> } {
  const connection = createConnection(options)
  return { open: async () => connection }
}

function createConnection({ collections, keyValues }: DatastoreOptions): Connection {
  const calls = createDocumentCalls(collections)
  const unsupported = absent.map((name) => [name, rejecting(name)])
  return {
    ...Object.fromEntries(unsupported),
    ...calls,
    ...createKeyValueCalls(keyValues),
    collection: (name) => bound(calls, name),
  }
}

/** Calls of the platform that this host does not have. */
const absent = [
  'enqueue',
  'enqueueFromQuery',
  'runAt',
  'createSchema',
  'setSchema',
  'getSchema',
  'removeSchema',
] as const

function bound(calls: DocumentCalls, collection: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      (...input: readonly unknown[]): unknown => Reflect.apply(call, calls, [collection, ...input]),
    ]),
  )
}

function createDocumentCalls(collections: Collections): DocumentCalls {
  const findOneOrNull = async (name: string, query: unknown) => collections.findOne(nameOf(name), queryOf(query))
  const getOne = async (name: string, query: unknown) => required(await findOneOrNull(name, query))
  const getMany = (name: string, query: unknown = {}, options: unknown = undefined) => {
    const { filter, chosen } = readForm(query, options)
    return createRowStream(collections.find(nameOf(name), filter, readFindOptions(chosen)))
  }
  return {
    getOne,
    findOne: getOne,
    findOneOrNull,
    getMany,
    find: getMany,
    insertOne: async (name, document) =>
      Array.isArray(document)
        ? collections.insertMany(nameOf(name), document)
        : collections.insert(nameOf(name), document),
    updateOne: async (name, query, operations, options) =>
      required(await collections.update(nameOf(name), queryOf(query), operations, writeOptions(options))),
    replaceOne: async (name, query, document, options) =>
      required(await collections.replace(nameOf(name), queryOf(query), document, writeOptions(options))),
    ...manyCalls(collections),
    removeOne: async (name, query) => ({ _id: required(await collections.remove(nameOf(name), queryOf(query))) }),
    count: async (name) => ({ count: await collections.count(nameOf(name)) }),
    createIndex: (name, fields, options) => noted(createIndex(collections, name, fields, options)),
  }
}

async function createIndex(collections: Collections, name: string, sent: unknown, options: unknown) {
  const fields = [sent].flat().map(String)
  await collections.createIndex(nameOf(name), fields, isPlain(options) && options.unique === true)
  return { collection: name, fields }
}

/** An application need not wait for it. A rejection that nothing handles would end the process. */
function noted<T>(promise: Promise<T>): Promise<T> {
  // biome-ignore lint/suspicious/noConsole: it is the log of the application
  promise.catch((error: unknown) => console.error(error))
  return promise
}

function manyCalls(collections: Collections): Pick<DocumentCalls, 'updateMany' | 'replaceMany' | 'removeMany'> {
  return {
    async updateMany(name, query, operations, options) {
      const { filter, change, chosen } = readChange(query, operations, options)
      return { count: await collections.updateMany(nameOf(name), filter, change, readFindOptions(chosen)) }
    },
    async replaceMany(name, query, document, options) {
      const { filter, change, chosen } = readChange(query, document, options)
      return { count: await collections.replaceMany(nameOf(name), filter, change, readFindOptions(chosen)) }
    },
    async removeMany(name, query, options) {
      const { filter, chosen } = readForm(query, options)
      return { count: await collections.removeMany(nameOf(name), filter, readFindOptions(chosen)) }
    },
  }
}

/** `(query, options)`, or `({ filter, … })` of codehooks-js 1.1 and before. */
function readForm(query: unknown, options: unknown): { filter: unknown; chosen: unknown } {
  if (options === undefined && isOldForm(query)) return { filter: query.filter, chosen: query }
  return { filter: query, chosen: options }
}

/** `(query, change, options)`, or `(change, { filter })` of codehooks-js 1.1 and before. */
function readChange(
  first: unknown,
  second: unknown,
  options: unknown,
): { filter: unknown; change: unknown; chosen: unknown } {
  if (options === undefined && isOldForm(second)) return { filter: second.filter, change: first, chosen: second }
  return { filter: first, change: second, chosen: options }
}

/** An `_id` or a query. */
function queryOf(query: unknown): unknown {
  const isId = !isPlain(query) || (Object.keys(query).length === 1 && typeof query.$oid === 'string')
  return isId ? { _id: requireId(query) } : query
}

function writeOptions(options: unknown): WriteOptions {
  return { upsert: isPlain(options) && options.upsert === true }
}

/** The realtime calls of codehooks-js are writes to collections of these names. */
function nameOf(collection: string): string {
  if (typeof collection === 'string' && collection.startsWith('_event_')) throw notSupported('realtime')
  return collection
}

/** Rejects as the platform does: callers read `message`, `error` or both. */
function required<T>(found: T | null): T {
  if (found !== null) return found
  throw Object.assign(new Error('Not found'), { code: 'not_found', error: 'Not found' })
}

interface RemoteStoreOptions {
  /** The path of the data socket. */
  socketPath: string
  /** 256 bits, for one generation of the space's data. */
  key: string
}

interface RemoteStore {
  documents: Documents
  indexes: Indexes
  keyValues: KeyValues
}

/** The data of the space, behind a unix socket of the front. Connections are kept. */
export function createRemoteStore(options: RemoteStoreOptions): RemoteStore {
  const agent = new Agent({ keepAlive: true, maxSockets: wireLimits.concurrentRequests })
  const call = async (port: WirePort, verb: string, ...input: readonly unknown[]): Promise<unknown> =>
    readWireAnswer(await send(agent, options, wirePath({ port, verb }), JSON.stringify(input)))
  return { documents: remoteDocuments(call), indexes: remoteIndexes(call), keyValues: remoteKeyValues(call) }
}

function send(agent: Agent, { socketPath, key }: RemoteStoreOptions, path: string, body: string): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const fail = (cause: unknown) => reject(new StoreError('store_unavailable', 'The data socket failed.', cause))
    const sent = request({ agent, socketPath, path, method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => resolve({ status: response.statusCode ?? 503, text: Buffer.concat(chunks).toString() }))
    })
    sent.on('error', fail)
    sent.end(body)
  })
}
