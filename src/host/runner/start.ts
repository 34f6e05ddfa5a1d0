import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { createCollections } from '../documents/collections.js'
import { loadMingo } from '../documents/mingo.js'
import { createDatastore, createRemoteStore } from './datastore/datastore.js'
import { createApplication, type Serve } from './exchange/application.js'
import { type Manifest, namesNotRun, requireManifest } from './exchange/manifest.js'
import { problem, sendProblem } from './exchange/problem.js'
import { createFiles, type ReleaseFiles } from './files.js'
import {
  decodePrincipal,
  healthPath,
  hopHeader,
  hostSymbol,
  isSame,
  nonceHeader,
  principalHeader,
  signNonce,
} from './hop.js'
import type { StartOptions } from './start-options.js'
import { newId, nowMs, pause, setEnvironment } from './world.js'

interface Started {
  server: Server
  /** What the application registers and this host does not run. */
  notRun: readonly string[]
}

/** Imports the bundle, runs its `startup` and listens. Rejects with what the bundle throws. */
export async function start(options: StartOptions): Promise<Started> {
  const { space, hash, env, limits, compat, keys, sockets, files } = options
  setEnvironment(env)
  const mingo = await loadMingo(files.mingo, nowMs)
  const { documents, indexes, keyValues } = createRemoteStore({ socketPath: sockets.data, key: keys.data })
  const literalDots = compat.dotPaths === 'literal'
  const store = { documents, indexes, mingo, newId, pause, nowMs, literalDots }
  const collections = createCollections({ ...store, report: logLine, onFault: logFault })
  const datastore = createDatastore({ collections, keyValues })
  const release = createFiles(dirname(files.bundle))
  setGlobals(datastore, release)
  Object.defineProperty(globalThis, hostSymbol, { value: Object.freeze({ space }) })

  const manifest = await importBundle(files.bundle)
  const spacePath = `/${space}`
  if (typeof manifest.app === 'object' && manifest.app !== null) {
    const internalFetch = createInternalFetch({ socketPath: sockets.requests, hopKey: keys.hop, spacePath })
    Object.assign(manifest.app, { internalFetch })
  }
  if (typeof manifest.startup === 'function') await manifest.startup()
  const serve = createApplication({
    manifest,
    spacePath,
    limits,
    compat,
    originOf: release.originOf,
    onFault: logFault,
  })
  const server = createChildServer({ serve, hopKey: keys.hop, hash, headerBytes: limits.headerBytes })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(sockets.requests, resolve)
  })
  return { server, notRun: namesNotRun(manifest) }
}

/** Sets the names that codehooks-js looks for when it is loaded. */
export function setGlobals(datastore: object, { files }: ReleaseFiles): void {
  Object.assign(globalThis, { DB: datastore, Datastore: datastore, _coho_fs: files })
}

async function importBundle(file: string): Promise<Manifest> {
  const { default: manifest }: { default?: unknown } = await import(pathToFileURL(file).href)
  return requireManifest(manifest)
}

function logLine(line: string): void {
  // biome-ignore lint/suspicious/noConsole: as in logFault
  console.warn(line)
}

export function logFault(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: stderr of the child is the log of the space
  console.error(error)
}

interface ServerOptions {
  serve: Serve
  hopKey: string
  /** Of the release, for `/health`. */
  hash: string
  headerBytes: number
}

/**
 * The child's side of the hop. A request without the hop key is 403: under the permission model every process of the same user
 * may connect to any unix socket.
 */
function createChildServer(options: ServerOptions): Server {
  // The application's own clock ends requests; Node's would cut uploads off after 5 minutes.
  const server = createServer({ maxHeaderSize: options.headerBytes, requestTimeout: 0 }, (raw, out) => {
    answer(options, raw, out)
  })
  // The front bounds the size of headers. Beyond a number, Node would refuse the request or leave headers unread.
  server.maxHeadersCount = 0
  server.on('upgrade', (_raw, socket) => {
    const { headers, text } = problem('not_here', undefined)
    const all = { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.on('error', () => {})
    socket.end(`HTTP/1.1 501 Not Implemented\r\n${lines.join('')}\r\n${text}`)
  })
  return server
}

function answer({ serve, hopKey, hash }: ServerOptions, raw: IncomingMessage, out: ServerResponse): void {
  const nonce = raw.headers[nonceHeader]
  if (raw.url === healthPath && typeof nonce === 'string') return void answerHealth(out, hash, signNonce(hopKey, nonce))
  if (!isSame(raw.headers[hopHeader], hopKey)) return void sendProblem(out, problem('forbidden', undefined))
  try {
    void serve(raw, out, decodePrincipal(raw.headers[principalHeader]))
  } catch {
    // The front writes this header readably, so another process has sent this one.
    sendProblem(out, problem('forbidden', undefined))
  }
}

/** The signature proves to the front that this child has the hop key. Before that the front sends nothing that is secret. */
function answerHealth(out: ServerResponse, hash: string, signature: string): void {
  const text = JSON.stringify({ hash, signature })
  out.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(text)
}

interface InternalFetchOptions {
  socketPath: string
  hopKey: string
  /** `/dev` */
  spacePath: string
}

/**
 * `app.internalFetch` of codehooks-js within the own space: the request goes to this child itself, without a principal, so the
 * auth hooks decide. The host of the URL does not matter.
 *
 * @throws {TypeError} for an address outside the space
 */
function createInternalFetch({ socketPath, hopKey, spacePath }: InternalFetchOptions) {
  return async (url: string, options: RequestInit = {}): Promise<Response> => {
    const asked = new Request(new URL(url, 'http://space.invalid'), { ...options, duplex: 'half' })
    const { pathname, search } = new URL(asked.url)
    if (!`${pathname}/`.startsWith(`${spacePath}/`)) {
      throw new TypeError(`internalFetch reaches only addresses below ${spacePath}.`)
    }
    const { [hopHeader]: _hop, [principalHeader]: _principal, ...headers } = Object.fromEntries(asked.headers)
    const body = asked.body === null ? null : Buffer.from(await asked.arrayBuffer())
    return new Promise((resolve, reject) => {
      const sent = request(
        { socketPath, method: asked.method, path: pathname + search, headers: { ...headers, [hopHeader]: hopKey } },
        (response) => {
          const { statusCode = 502, headersDistinct } = response
          const given = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
            values.map((value): [string, string] => [name, value]),
          )
          const empty = asked.method === 'HEAD' || [204, 205, 304].includes(statusCode)
          if (empty) response.resume()
          resolve(new Response(empty ? null : bodyOf(response), { status: statusCode, headers: given }))
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

async function* chunksOf(response: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of response) if (chunk instanceof Uint8Array) yield chunk
}

function bodyOf(response: Readable): ReadableStream<Uint8Array> {
  const chunks = chunksOf(response)
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => void response.destroy(),
  })
}
