import { createServer, type IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import { createCollections } from '../../src/host/documents/collections.js'
import { loadMingo } from '../../src/host/documents/mingo.js'
import { type Connection, createDatastore } from '../../src/host/runner/datastore/datastore.js'
import { createApplication } from '../../src/host/runner/exchange/application.js'
import { createFiles } from '../../src/host/runner/files.js'
import { setGlobals } from '../../src/host/runner/start.js'
import { newId, nowMs, pause } from '../../src/host/runner/world.js'
import { createSpaceStore } from './space-store.js'

// biome-ignore lint/suspicious/noExplicitAny: hooks of tests name what they use of the request themselves
export type Hook = (req: any, res: any, next: (error?: unknown) => void) => unknown

/** What the host reads of a manifest; `app.init()` makes one. */
export interface Manifest {
  authhooks: Readonly<Record<string, readonly Hook[]>>
  routehooks: Readonly<Record<string, readonly Hook[]>>
  globalhooks: readonly (Hook | { path: string; func: Hook } | { regex: string; func: Hook })[]
  startup?: () => unknown
}

/** The application object of codehooks-js, as far as the tests use it. */
export interface CodehooksApp extends Record<'get' | 'post' | 'put' | 'patch' | 'delete' | 'all' | 'auth', Register> {
  use(...hooks: (string | RegExp | Hook)[]): void
  crudlify(schema: Readonly<Record<string, unknown>>, options?: { prefix?: string }): Promise<unknown>
  static(options: Readonly<Record<string, unknown>>): void
  init(): Manifest
}

type Register = (path: string | RegExp, ...hooks: Hook[]) => void

export interface CodehooksHost {
  port: number
  /** What hooks and routes threw or passed to `next`: nothing of ours may ever stand here. */
  faults: unknown[]
  close(): Promise<void>
}

/** These applications have no files. */
const release = createFiles('/nonexistent')
let loads = 0
let connection: object

/** A Datastore connection as the child of a space has it, with empty collections in memory. */
async function createConnection(): Promise<Connection> {
  const mingo = await loadMingo(createRequire(import.meta.url).resolve('mingo'), () => performance.now())
  const { documents, indexes, keyValues } = createSpaceStore()
  const log = { report: () => {}, onFault: () => {} }
  const store = { documents, indexes, mingo, newId, pause, nowMs }
  const collections = createCollections({ ...store, ...log, literalDots: false })
  return createDatastore({ collections, keyValues }).open()
}

/**
 * A codehooks-js of its own, with empty collections unless a connection is given. The package makes one application a process;
 * another query string makes another module. Its inner modules are shared, so one application at a time may call `crudlify`.
 *
 * @returns the application, and the connection with empty collections
 */
export async function loadCodehooks(database?: object): Promise<{ app: CodehooksApp; connection: Connection }> {
  const own = await createConnection()
  connection = database ?? own
  setGlobals({ open: async () => connection }, release)
  loads += 1
  const file = pathToFileURL(createRequire(import.meta.url).resolve('codehooks-js'))
  return { app: await loadQuietly(`${file}?load=${loads}`), connection: own }
}

/** The package picks `console.debug` up when it is loaded, and talks a lot. */
async function loadQuietly(address: string): Promise<CodehooksApp> {
  const { debug } = console
  console.debug = () => {}
  try {
    const { app } = await import(/* @vite-ignore */ address)
    return app
  } finally {
    console.debug = debug
  }
}

/**
 * Serves a manifest by the runner of the space host, over TCP and without a guard in front.
 *
 * `space` is the first segment of all addresses; null for hosts without one. `apiToken` is a token of the platform
 * itself, which goes around all auth hooks. `principal` is what the guard of the host found.
 */
export async function hostCodehooks(
  manifest: Manifest,
  {
    space = 'dev',
    apiToken = null,
    principal = null,
  }: { space?: string | null; apiToken?: string | null; principal?: object | null } = {},
): Promise<CodehooksHost> {
  const faults: unknown[] = []
  const serve = createApplication({
    manifest,
    spacePath: space === null ? '' : `/${space}`,
    limits: { bodyBytes: 10 * 1024 * 1024, requestMs: 30_000 },
    compat: { errors: 'problem', cors: 'own' },
    originOf: release.originOf,
    onFault: (error) => void faults.push(error),
  })
  const isToken = ({ headers }: IncomingMessage) => apiToken !== null && headers['x-apikey'] === apiToken
  const server = createServer((raw, out) => void serve(raw, out, isToken(raw) ? platformToken : principal))
  await manifest.startup?.()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A credential that only the platform knows: it is no principal of ours. */
const platformToken = Object.freeze({ kind: 'platform' })
