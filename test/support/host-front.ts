import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createForwardedHeaders, findSpoofedHeaders } from '../../src/guard/forwarded-headers.js'
import { createFront } from '../../src/host/front/front.js'
import { createFrontServer, type ServerTimes } from '../../src/host/front/server.js'
import type { Child, Space, SpaceGuard, SpaceLimits } from '../../src/host/front/space.js'
import type { HttpRequest } from '../../src/http/message.js'
import { json } from '../../src/http/problem.js'
import type { Pass, Verdict, Watch } from '../../src/http/verdict.js'
import { takeApiKey } from '../../src/lib/api-key-query.js'
import { createClientIp, type TrustedProxies } from '../../src/lib/client-ip.js'
import type { Principal } from '../../src/model/principal.js'

/** A request that the child of a space received. */
export interface ReceivedRequest {
  method: string
  url: string
  /** Lower-case names and values, in order. */
  headers: readonly (readonly [string, string])[]
  body: string
}

export interface StubChild {
  child: Child
  /** Whole requests, after their bodies. */
  received: ReceivedRequest[]
  /** How many requests the front counts as running. */
  running(): number
  /** Connections that are open now. */
  sockets: Set<Socket>
}

/** A child that answers as an application would, and remembers what it got. It ends with the test. */
export function startChild(listener: RequestListener = answerOk): Promise<StubChild> {
  const received: ReceivedRequest[] = []
  const server = createServer({ maxHeaderSize: 128 * 1024 }, (request, response) => {
    void remember(request, received)
    listener(request, response)
  })
  server.maxHeadersCount = 0
  return listening(server, received)
}

/** A child that sends any bytes: `talk` gets each connection with the bytes that came on it. It ends with the test. */
export function startRawChild(talk: (socket: Socket, bytes: string) => void): Promise<StubChild> {
  const server = createNetServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => talk(socket, bytes.toString('latin1')))
  })
  return listening(server, [])
}

/** A path where no child listens. */
export function absentChild(): Child {
  return { socketPath: join(tmpdir(), 'latchkey-no-child'), hopKey, begin: () => () => {} }
}

export const hopKey = 'hop-key-of-this-child'

async function listening(
  server: Server | ReturnType<typeof createNetServer>,
  received: ReceivedRequest[],
): Promise<StubChild> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-child-'))
  const socketPath = join(folder, 's')
  const sockets = new Set<Socket>()
  let running = 0
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  const begin = () => {
    running += 1
    return () => {
      running -= 1
    }
  }
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
    rmSync(folder, { recursive: true })
  })
  return { child: { socketPath, hopKey, begin }, received, running: () => running, sockets }
}

const answerOk: RequestListener = (request, response) => {
  request.resume().on('end', () => response.end('ok'))
}

async function remember(request: IncomingMessage, received: ReceivedRequest[]): Promise<void> {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  await new Promise((resolve) => request.on('close', resolve))
  const { method = '', url = '', rawHeaders } = request
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ''] as const] : [],
  )
  received.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
}

export interface StubSpace {
  /** A function is asked with each request. */
  child: StubChild | Child | (() => Promise<Child>)
  principal?: Principal | null
  /** Replaces parts of what the guard decides. */
  pass?: Partial<Pass>
  limits?: Partial<SpaceLimits>
  guard?: Partial<SpaceGuard>
}

export interface FrontUnderTest {
  port: number
  url: string
  /** The requests that guards have judged. */
  judged: { space: string; path: string; mount: string }[]
  log: unknown[]
  server: Server
}

/** A front over the spaces `dev` and `prod`, which share a child. */
export interface SpacesUnderTest extends FrontUnderTest {
  child: StubChild
  /** The `Host` line that the front accepts. */
  host: string
}

export interface FrontSettings {
  /** Default: the loopback address of the server. */
  baseUrl?: string
  trustedProxies?: TrustedProxies
  /** Names of spaces in which nothing is deployed. */
  undeployed?: readonly string[]
  times?: ServerTimes
}

/** @param stub what `dev` has of its own */
export async function startSpaces(
  child: StubChild,
  stub: Partial<StubSpace> = {},
  settings: FrontSettings = {},
): Promise<SpacesUnderTest> {
  const front = await startFront({ dev: { child, ...stub }, prod: { child } }, settings)
  return { ...front, child, host: `Host: ${new URL(settings.baseUrl ?? front.url).host}` }
}

/**
 * A front over these spaces, with a guard that accepts every request and prepares it as the real one does. It ends with the
 * test.
 */
export async function startFront(
  spaces: Readonly<Record<string, StubSpace>>,
  settings: FrontSettings = {},
): Promise<FrontUnderTest> {
  const judged: FrontUnderTest['judged'] = []
  const log: unknown[] = []
  const write = (fields: unknown) => void log.push(fields)
  // The port is not known yet, but `baseUrl` is read at once.
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const baseUrl = settings.baseUrl ?? url
  const found = new Map<string, Space>()
  for (const [name, stub] of Object.entries(spaces)) found.set(name, spaceOf(name, stub, judged, baseUrl, settings))
  const front = createFront({
    baseUrl,
    spaces: {
      find: (name) => found.get(name) ?? null,
      isSpace: (name) => found.has(name) || (settings.undeployed?.includes(name) ?? false),
    },
    health: () => json(200, { status: 'ok' }),
    logger: { warn: write, error: write },
  })
  const server = settings.times ? createFrontServer(front, settings.times) : createFrontServer(front)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { port, url, judged, log, server }
}

async function freePort(): Promise<number> {
  const server = createNetServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address: AddressInfo | string | null = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

function spaceOf(
  name: string,
  { child, principal = null, pass, limits, guard }: StubSpace,
  judged: FrontUnderTest['judged'],
  baseUrl: string,
  settings: FrontSettings,
): Space {
  const forwarded = createForwardedHeaders({ origin: new URL(baseUrl).origin })
  const clientIp = createClientIp(settings.trustedProxies ?? { kind: 'none' })
  const watch: Watch = () => () => {}
  const decide = (request: HttpRequest): Verdict => {
    judged.push({ space: name, path: request.path, mount: request.mount })
    const token = principal?.kind === 'apiToken' ? String(request.headers['x-apikey'] ?? queryKey(request)) : null
    return {
      kind: 'pass',
      principal,
      spoofedHeaders: findSpoofedHeaders(request.headers),
      query: takeApiKey(request.query)?.rest ?? null,
      forwarded: forwarded(clientIp(request.ip, request.headers), 'request-1', token),
      responseHeaders: null,
      ...pass,
    }
  }
  return {
    id: `id-of-${name}`,
    name,
    guard: { decide, watch, ...guard },
    limits: { requestMs: 30_000, streamBytes: 1024 ** 3, headersBytes: 32 * 1024, connections: 512, ...limits },
    child: typeof child === 'function' ? child : () => Promise.resolve('child' in child ? child.child : child),
  }
}

function queryKey(request: HttpRequest): string | null | undefined {
  return takeApiKey(request.query)?.values[0]
}
