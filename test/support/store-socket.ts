import { createServer } from 'node:http'
import { parseWirePath, type WireAnswer, wireFault, wireLimits, wireValue } from '../../src/host/documents/wire.js'
import type { SpaceStore } from './space-store.js'

export interface StoreSocket {
  /** What was asked, as `documents/get`. */
  calls: string[]
  close(): Promise<void>
}

/** The front's side of the data socket, over any implementation of the ports. */
export async function serveStore(store: SpaceStore, socketPath: string, key: string): Promise<StoreSocket> {
  const calls: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const call = parseWirePath(request.url ?? '')
    const allowed = request.headers.authorization === `Bearer ${key}` && text.length <= wireLimits.requestBytes
    const answer = allowed && call ? await run(store, call.port, call.verb, JSON.parse(text)) : refused
    calls.push(`${call?.port}/${call?.verb}`)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text)
  })
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  return {
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const refused: WireAnswer = { status: 403, text: '{}' }

async function run(
  store: SpaceStore,
  port: keyof SpaceStore,
  verb: string,
  input: readonly unknown[],
): Promise<WireAnswer> {
  try {
    const verbs = store[port]
    const method: unknown = Reflect.get(verbs, verb)
    if (typeof method !== 'function') return refused
    return wireValue(await Reflect.apply(method, verbs, input))
  } catch (error) {
    return wireFault(error)
  }
}
