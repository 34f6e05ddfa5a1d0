import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { isolate } from '../../src/host/children/isolation.js'
import { encodePrincipal, hopHeader, nonceHeader, principalHeader } from '../../src/host/runner/hop.js'
import type { StartOptions } from '../../src/host/runner/start-options.js'
import { buildRunner, hashOfRelease, makeRelease, mingo } from './space-release.js'
import { createSpaceStore, type SpaceStore } from './space-store.js'
import { type StoreSocket, serveStore } from './store-socket.js'

/** The files that children of one test file share: the runner, and the bundles that were made so far. */
export interface Workshop {
  /** The child lives until the workshop closes. */
  start(bundle: string, options?: ChildOptions): Promise<SpaceChild>
  close(): Promise<void>
}

export interface ChildOptions {
  env?: Record<string, string>
  limits?: Partial<StartOptions['limits']>
  compat?: Partial<StartOptions['compat']>
  store?: SpaceStore
  /** A release that cannot start is waited for until it has ended. */
  expectEnd?: boolean
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

export interface AskOptions {
  method?: string
  headers?: OutgoingHttpHeaders
  body?: string | Buffer | Readable
  principal?: object
  /** Another hop key, or null for none. */
  hop?: string | null
}

/** A child process of a space, as the front starts it. Killed when the test ends. */
export interface SpaceChild {
  process: ChildProcess
  socketPath: string
  hopKey: string
  store: SpaceStore
  storeSocket: StoreSocket
  /** The other end of descriptor 3. */
  pipe: Duplex
  /** What came through the pipe so far, line by line. */
  lines: string[]
  /** stdout and stderr. */
  log(): string
  ask(path: string, options?: AskOptions): Promise<Answer>
  health(nonce: string): Promise<Answer>
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

export async function openWorkshop(): Promise<Workshop> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-host-'))
  const runner = await buildRunner(folder)
  const releases = new Map<string, Promise<string>>()
  const children: SpaceChild[] = []

  function release(bundle: string): Promise<string> {
    const made = releases.get(bundle) ?? makeRelease(folder, bundle)
    releases.set(bundle, made)
    return made
  }

  return {
    async start(bundle, options = {}) {
      const child = await startChild(folder, runner, await release(bundle), options)
      children.push(child)
      if (options.expectEnd) await child.ended
      else await listening(child)
      return child
    },
    async close() {
      for (const child of children) {
        child.process.kill('SIGKILL')
        await child.ended
        await child.storeSocket.close()
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startChild(
  folder: string,
  runner: string,
  release: string,
  { env = {}, limits, compat, store = createSpaceStore() }: ChildOptions,
): Promise<SpaceChild> {
  const home = await mkdtemp(join(folder, 'run-'))
  const temporary = join(home, 'tmp')
  await mkdir(temporary)
  await chmod(home, 0o700)
  const socketPath = join(home, 'requests.sock')
  const storePath = join(home, 'store.sock')
  const keys = { hop: randomBytes(32).toString('base64url'), data: randomBytes(32).toString('base64url') }
  const storeSocket = await serveStore(store, storePath, keys.data)
  const bundle = join(release, 'bundle.mjs')
  const options: StartOptions = {
    space: 'dev',
    hash: await hashOfRelease(release),
    env,
    limits: { bodyBytes: 10 * 1024 * 1024, requestMs: 30_000, headerBytes: 64 * 1024, ...limits },
    compat: { errors: 'problem', cors: 'own', dotPaths: 'nested', ...compat },
    keys,
    sockets: { requests: socketPath, data: storePath },
    files: { bundle, mingo },
  }
  const reach = { runner, releaseFolder: release, temporaryFolder: temporary, mingo, memoryBytes: 256 * 1024 * 1024 }
  const { file, args, env: environment, cwd } = isolate(reach, [])
  const child = spawn(file, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  return { ...watch(child, options), process: child, store, storeSocket, ended, hopKey: keys.hop, socketPath }
}

function watch(
  child: ChildProcess,
  options: StartOptions,
): Pick<SpaceChild, 'pipe' | 'lines' | 'log' | 'ask' | 'health'> {
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (log += chunk))
  const pipe = child.stdio[3]
  if (!isDuplex(pipe)) throw new Error('the child has no pipe')
  const lines: string[] = []
  let rest = ''
  pipe.on('error', () => {})
  pipe.on('data', (chunk) => {
    const parts = `${rest}${chunk}`.split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  })
  pipe.write(`${JSON.stringify(options)}\n`)
  const { requests } = options.sockets
  return {
    pipe,
    lines,
    log: () => log,
    ask: (path, asked = {}) => ask(requests, options.keys.hop, path, asked),
    health: (nonce) => ask(requests, options.keys.hop, '/health', { hop: null, headers: { [nonceHeader]: nonce } }),
  }
}

function isDuplex(stream: unknown): stream is Duplex {
  return typeof stream === 'object' && stream !== null && 'write' in stream && 'read' in stream
}

async function listening(child: SpaceChild): Promise<void> {
  const isListening = () => child.lines.some((line) => line.includes('"listening"'))
  let over = false
  void child.ended.then(() => (over = true))
  while (!isListening()) {
    if (over) throw new Error(`The child ended before it listened:\n${child.log()}`)
    await Promise.race([once(child.pipe, 'data'), child.ended])
  }
}

export function ask(
  socketPath: string,
  hopKey: string,
  path: string,
  { method = 'GET', headers = {}, body, principal, hop = hopKey }: AskOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ours = {
      ...(hop !== null && { [hopHeader]: hop }),
      ...(principal && { [principalHeader]: encodePrincipal(principal) }),
    }
    const sent = request(
      { socketPath, path, method, headers: { host: 'api.example.org', ...headers, ...ours } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
      },
    )
    sent.on('error', reject)
    if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) sent.end(body)
    else body.pipe(sent)
  })
}
