import { Agent, request } from 'node:http'
import { StoreError } from '../../documents/store-error.js'
import { isPlain } from '../../documents/values.js'
import { readWireAnswer, type WireAnswer, type WirePort, wireLimits, wirePath } from '../../documents/wire.js'
import type { CollectionSize, Documents, KeyValue, KeyValues, StoredDocument } from '../../ports.js'

interface RemoteStoreOptions {
  /** The path of the data socket. */
  socketPath: string
  /** 256 bits, for one generation of the space's data. */
  key: string
}

/** The data of the space, behind a unix socket of the front. Connections are kept. */
export function createRemoteStore(options: RemoteStoreOptions): { documents: Documents; keyValues: KeyValues } {
  const agent = new Agent({ keepAlive: true, maxSockets: wireLimits.concurrentRequests })
  const call = async (port: WirePort, verb: string, ...input: readonly unknown[]): Promise<unknown> =>
    readWireAnswer(await send(agent, options, wirePath({ port, verb }), JSON.stringify(input)))
  return { documents: remoteDocuments(call), keyValues: remoteKeyValues(call) }
}

type Call = (port: WirePort, verb: string, ...input: readonly unknown[]) => Promise<unknown>

function remoteDocuments(call: Call): Documents {
  return {
    get: async (...input) => readNullable(await call('documents', 'get', ...input), readStored),
    put: async (...input) => readNumber(await call('documents', 'put', ...input)),
    remove: async (...input) => (await call('documents', 'remove', ...input)) === true,
    async scan(...input) {
      const page = readObject(await call('documents', 'scan', ...input))
      return { documents: readList(page.documents, readStored), next: readNullable(page.next, readText) }
    },
    putMany: async (...input) => readList(await call('documents', 'putMany', ...input), readText),
    count: async (...input) => readNumber(await call('documents', 'count', ...input)),
    drop: async (...input) => void (await call('documents', 'drop', ...input)),
    list: async () => readList(await call('documents', 'list'), readSize),
  }
}

function remoteKeyValues(call: Call): KeyValues {
  return {
    get: async (...input) => readNullable(await call('keyValues', 'get', ...input), readText),
    set: async (...input) => void (await call('keyValues', 'set', ...input)),
    remove: async (...input) => (await call('keyValues', 'remove', ...input)) === true,
    increment: async (...input) => readNumber(await call('keyValues', 'increment', ...input)),
    async page(...input) {
      const page = readObject(await call('keyValues', 'page', ...input))
      return { rows: readList(page.rows, readPair), next: readNullable(page.next, readText) }
    },
    removePage: async (...input) => readNumber(await call('keyValues', 'removePage', ...input)),
  }
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

/** The front is trusted, but a front of another version may answer something else. */
function unreadable(): StoreError {
  return new StoreError('store_unavailable', 'The data socket gave an answer that cannot be read.')
}

function readObject(value: unknown): Record<string, unknown> {
  if (!isPlain(value)) throw unreadable()
  return value
}

function readText(value: unknown): string {
  if (typeof value !== 'string') throw unreadable()
  return value
}

function readNumber(value: unknown): number {
  if (typeof value !== 'number') throw unreadable()
  return value
}

function readNullable<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null ? null : read(value)
}

function readList<T>(value: unknown, read: (value: unknown) => T): T[] {
  if (!Array.isArray(value)) throw unreadable()
  return value.map(read)
}

function readStored(value: unknown): StoredDocument {
  const { id, version, body } = readObject(value)
  return { id: readText(id), version: readNumber(version), body: readText(body) }
}

function readSize(value: unknown): CollectionSize {
  const { name, count, bytes } = readObject(value)
  return { name: readText(name), count: readNumber(count), bytes: readNumber(bytes) }
}

function readPair(value: unknown): KeyValue {
  const { key, value: text } = readObject(value)
  return { key: readText(key), value: readText(text) }
}
