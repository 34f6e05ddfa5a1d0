import { Agent, request } from 'node:http'
import { remoteDocuments, remoteIndexes, remoteKeyValues } from '../../documents/remote-ports.js'
import { StoreError } from '../../documents/store-error.js'
import { readWireAnswer, type WireAnswer, type WirePort, wireLimits, wirePath } from '../../documents/wire.js'
import type { Documents, Indexes, KeyValues } from '../../ports.js'

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
