import { timingSafeEqual } from 'node:crypto'
import { chmod } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { StoreError } from '../documents/store-error.js'
import { parseWirePath, type WireCall, wireFault, wireLimits } from '../documents/wire.js'
import { createRequestQueue } from '../request-queue.js'
import { isWriting } from './calls.js'
import type { WireReply } from './messages.js'
import { unavailable } from './messages.js'
import type { SpaceData } from './space.js'

interface ServeDataOptions {
  data: Pick<SpaceData, 'answer'>
  /** At most 103 bytes. The folder exists, and no other user may enter it. */
  socketPath: string
  /** 256 bits of randomness as text, for this generation and this child. */
  key: string
}

export interface DataServer {
  /** Refuses every further request, waits for the calls under way, then closes all connections. */
  close(): Promise<void>
}

/** Node cuts a longer path silently (sun_path of unix(7)). */
const maxPathBytes = 103

/** What a client that stalls may hold, and for how long. */
const headersMs = 10_000
const requestMs = 30_000

/** Of all requests, and of all answers, of one space in the memory of the front. */
const maxHeldBytes = 64 * 1024 * 1024
/** The answer of a reading call: a page of 256 KiB, or one document of 4 MiB whose quotes are escaped. */
const answerBytes = 8 * 1024 * 1024
/** Requests that wait for admission have a connection each. */
const maxConnections = 2 * wireLimits.concurrentRequests
/** A text up to this size costs less to copy than to move. */
const shortBytes = 16 * 1024

/**
 * Serves the data of one generation to one child over a unix socket of mode 0600.
 *
 * @throws {Error} when the path is too long or cannot be listened on
 */
export async function serveData({ data, socketPath, key }: ServeDataOptions): Promise<DataServer> {
  if (Buffer.byteLength(socketPath) > maxPathBytes) throw new Error(`A socket path has ${maxPathBytes} bytes at most.`)
  const expected = Buffer.from(`Bearer ${key}`)
  const most = { requests: wireLimits.concurrentRequests, bytes: maxHeldBytes }
  const requests = createAdmission(most)
  const answers = createAdmission(most)
  const underWay = new Set<Promise<void>>()
  const queue = createRequestQueue()
  let isClosing = false

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    response.sendDate = false
    // A client that leaves is no fault of ours.
    request.on('error', () => {})
    const answering = answer(request, response).catch(() => void socket.destroy())
    underWay.add(answering)
    void answering.finally(() => underWay.delete(answering))
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isSame(request.headers.authorization, expected)) return refuse(response, 403)
    if (isClosing) return send(response, faultReply(unavailable()), true)
    const call = request.method === 'POST' ? parseWirePath(request.url ?? '') : null
    if (!call) return refuse(response, 404)
    const sent = request.headers['content-length']
    if (sent === undefined) return refuse(response, 411)
    const length = Number(sent)
    if (length > wireLimits.requestBytes) return refuseOversize(request, response, length)
    const onGone = (callback: () => void) => void response.once('close', callback)
    const leave = await requests.enter(length, onGone)
    if (leave === null) return
    try {
      const bytes = await readBody(request, length)
      // Whole requests only: one that stalls keeps no other from its answer.
      const close = bytes && (await answers.enter(isWriting(call) ? 0 : answerBytes, onGone))
      if (bytes && close) await run(response, call, bytes).finally(close)
    } finally {
      leave()
    }
  }

  async function run(response: ServerResponse, call: WireCall, bytes: Buffer<ArrayBuffer>): Promise<void> {
    if (isClosing) return send(response, faultReply(unavailable()), true)
    const body = bytes.length <= shortBytes ? bytes.toString() : bytes
    await send(response, await data.answer(call, body), isClosing)
  }

  const server = createDataServer((request, response) => {
    queue.enter(request, response, () => ({ start: () => serve(request, response), drop() {} }))
  })
  await listen(server, socketPath)
  return {
    async close() {
      isClosing = true
      await end(server, underWay)
    },
  }
}

/** How long `close` waits for the calls under way. */
const closingMs = 2_000

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref())
}

async function end(server: Server, underWay: ReadonlySet<Promise<void>>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  await Promise.race([Promise.allSettled(underWay), pause(closingMs)])
  server.closeAllConnections()
  await closed
}

function createDataServer(serve: (request: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer(
    {
      insecureHTTPParser: false,
      maxHeaderSize: 8 * 1024,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: 5_000,
      // The runner keeps its connections. Closing an idle one would race with its next request.
      keepAliveTimeout: 0,
      // Node itself would refuse requests without a `Host`, before the requests that came first.
      requireHostHeader: false,
    },
    serve,
  )
  // The runner expects nothing. Node would tell a request to go on before the answers that come first.
  server.on('checkContinue', serve)
  server.on('checkExpectation', serve)
  server.maxConnections = maxConnections
  return server
}

async function listen(server: Server, socketPath: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, () => {
      server.off('error', reject)
      resolve()
    })
  })
  await chmod(socketPath, 0o600)
}

/** In the same time for every text of the same length. The length of a key is no secret. */
function isSame(sent: string | undefined, expected: Buffer): boolean {
  const bytes = Buffer.from(sent ?? '')
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}

/** The runner learns why, for which it must have sent the whole. Of a request that is far too large nothing is read. */
async function refuseOversize(request: IncomingMessage, response: ServerResponse, length: number): Promise<void> {
  if (length <= 4 * wireLimits.requestBytes) {
    request.resume()
    await new Promise((resolve) => request.once('end', resolve).once('close', resolve))
  }
  const limit = `${wireLimits.requestBytes / 1024 ** 2} MiB`
  await send(response, faultReply(new StoreError('quota_exceeded', `A call may send ${limit} at most.`)), true)
}

/** Admits requests while their number and their bytes are within bounds; others wait in their order. */
interface Admission {
  /**
   * Resolves to the function that gives the place back, or to null when the client leaves before its turn. `onGone` registers a
   * callback for that.
   */
  enter(bytes: number, onGone: (callback: () => void) => void): Promise<(() => void) | null>
}

interface Waiting {
  bytes: number
  start(): void
}

/** One request is always admitted, however large. */
function createAdmission(most: { requests: number; bytes: number }): Admission {
  const waiting: Waiting[] = []
  let requests = 0
  let bytes = 0

  const fits = (more: number) => requests === 0 || (requests < most.requests && bytes + more <= most.bytes)

  function take(more: number): () => void {
    requests += 1
    bytes += more
    return () => {
      requests -= 1
      bytes -= more
      startFitting()
    }
  }

  function startFitting(): void {
    while (waiting[0] && fits(waiting[0].bytes)) waiting.shift()?.start()
  }

  return {
    async enter(wanted, onGone) {
      if (waiting.length === 0 && fits(wanted)) return take(wanted)
      return new Promise((resolve) => {
        const place: Waiting = { bytes: wanted, start: () => resolve(take(wanted)) }
        waiting.push(place)
        onGone(() => {
          const at = waiting.indexOf(place)
          if (at !== -1) waiting.splice(at, 1)
          startFitting()
          resolve(null)
        })
      })
    },
  }
}

/** How long a client may take to read an answer. */
const answerMs = 30_000

/** null when the client left before the end. */
function readBody(request: IncomingMessage, length: number): Promise<Buffer<ArrayBuffer> | null> {
  // Of its own, not of Node's pool: it moves to the thread. Pages that the client never fills cost no memory.
  const bytes = Buffer.from(new ArrayBuffer(length))
  let at = 0
  return new Promise((resolve) => {
    // It left while it waited for admission.
    if (request.destroyed) return resolve(null)
    request.on('data', (chunk: Buffer) => {
      at += chunk.copy(bytes, at)
    })
    request.once('end', () => resolve(at === length ? bytes : null))
    request.once('close', () => resolve(null))
  })
}

function faultReply(error: StoreError): WireReply {
  const { status, text } = wireFault(error)
  return { status, body: text }
}

/** Resolves when the answer has left, or its connection has gone. */
function send(response: ServerResponse, { status, body }: WireReply, isLast: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (response.closed) return resolve()
    const overdue = setTimeout(() => response.destroy(), answerMs)
    response.once('close', () => {
      clearTimeout(overdue)
      resolve()
    })
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(isLast && { connection: 'close' }),
    })
    response.end(body)
  })
}

/** A client that does not keep to the wire learns nothing, and its connection ends. */
function refuse(response: ServerResponse, status: number): Promise<void> {
  return send(response, { status, body: '{}' }, true)
}
