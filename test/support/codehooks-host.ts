import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import { type CodehooksConnection, createCollections } from './codehooks-collections.js'

export type Hook = (req: HostRequest, res: HostResponse, next: (error?: unknown) => void) => unknown

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

interface HostRequest {
  method: string
  hostname: string
  headers: IncomingMessage['headers']
  query: Readonly<Record<string, string | string[] | undefined>>
  params: Record<string, string>
  body: unknown
  rawBody?: string
  path: string
  apiPath: string
  originalUrl: string
  on(event: string, listener: (...input: unknown[]) => void): unknown
  pipe(target: NodeJS.WritableStream): unknown
  auth?: unknown
}

interface HostResponse {
  status(code: number): HostResponse
  set(name: string, value: string): HostResponse
  setHeader(name: string, value: string | string[]): HostResponse
  headers(values: Readonly<Record<string, string>>): HostResponse
  removeHeader(name: string): HostResponse
  write(data: string | Uint8Array, type?: string): HostResponse
  end(data?: unknown): void
  send(data: unknown): void
  json(value: unknown): void
  redirect(...target: [number, string] | [string]): void
}

export interface CodehooksHost {
  port: number
  /** What hooks and routes threw or passed to `next`: nothing of ours may ever stand here. */
  faults: unknown[]
  close(): Promise<void>
}

let loads = 0
let connection: CodehooksConnection

/**
 * A codehooks-js of its own, with empty collections unless others are given. The package makes one application a process; another query string
 * makes another module. Its inner modules are shared, so one application at a time may call `crudlify`.
 */
export async function loadCodehooks(
  database: CodehooksConnection = createCollections(),
): Promise<{ app: CodehooksApp; connection: CodehooksConnection }> {
  connection = database
  // It must be there before the package is loaded; this name is the platform's.
  Object.assign(globalThis, { DB: { open: async () => connection } })
  loads += 1
  const file = pathToFileURL(createRequire(import.meta.url).resolve('codehooks-js'))
  return { app: await loadQuietly(`${file}?load=${loads}`), connection }
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
 * Serves a manifest as the platform does: credential, auth hook, route, middleware, route handlers.
 *
 * `space` is the first segment of all addresses; null for hosts without one. `apiToken` is a token of the platform
 * itself, which goes around all auth hooks.
 */
export async function hostCodehooks(
  manifest: Manifest,
  { space = 'dev', apiToken = null }: { space?: string | null; apiToken?: string | null } = {},
): Promise<CodehooksHost> {
  const faults: unknown[] = []
  const serve = createPlatform(manifest, apiToken, faults)
  const server = createServer((raw, out) => {
    readBody(raw)
      .then((text) => serve(raw, out, text, space === null ? '' : `/${space}`))
      .catch((error) => {
        faults.push(error)
        out.destroy()
      })
  })
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

function createPlatform(manifest: Manifest, apiToken: string | null, faults: unknown[]) {
  return async (raw: IncomingMessage, out: ServerResponse, text: string | null, spacePath: string): Promise<void> => {
    const originalUrl = raw.url ?? '/'
    const path = originalUrl.split('?')[0] ?? '/'
    const res = createResponse(out)
    if (!`${path}/`.startsWith(`${spacePath}/`)) return res.status(404).json({ error: 'No such space' })
    // Two objects: what a hook puts on its request does not reach the route.
    const request = (): HostRequest => createRequest(raw, text, path, path.slice(spacePath.length) || '/')
    const { apiPath } = request()
    const run = (hooks: readonly Hook[], req: HostRequest) => runChain(hooks, req, res, out)

    if (apiToken === null || raw.headers['x-apikey'] !== apiToken) {
      const gate = Object.entries(manifest.authhooks).find(([pattern]) => match(pattern, apiPath))
      if (!gate) return res.status(401).json({ error: 'Authentication failed' })
      // Only the first function of `auth(path, a, b)` is run.
      const outcome = await run(gate[1].slice(0, 1), request())
      if (outcome.kind === 'ended') return
      if (outcome.kind !== 'next') faults.push(outcome.error)
      if (outcome.kind === 'thrown') return res.status(500).json({ error: 'Hook failed' })
      if (outcome.kind === 'error') return res.status(401).json({ error: 'Authentication failed' })
    }

    const route = findRoute(manifest, raw.method ?? 'GET', apiPath)
    if (!route) return res.status(404).end('No maching routes in code')
    const req = Object.assign(request(), { params: route.params })
    const middleware = manifest.globalhooks.flatMap((entry) => {
      if (typeof entry === 'function') return [entry]
      return match('path' in entry ? entry.path : entry.regex, apiPath) ? [entry.func] : []
    })
    const outcome = await run([...middleware, ...route.hooks], req)
    if (outcome.kind === 'ended' || outcome.kind === 'next') return
    faults.push(outcome.error)
    if (outcome.kind === 'error') return res.status(500).end(String(outcome.error))
    res.status(200).json({ text: 'Unhandled Codehook exception, check logs', fatal: true })
  }
}

type Outcome = { kind: 'next' } | { kind: 'ended' } | { kind: 'error' | 'thrown'; error: unknown }

/** Runs hooks one after another until one does not call `next`. */
async function runChain(
  hooks: readonly Hook[],
  req: HostRequest,
  res: HostResponse,
  out: ServerResponse,
): Promise<Outcome> {
  for (const hook of hooks) {
    const outcome = await new Promise<Outcome>((resolve) => {
      const next = (error?: unknown): void => resolve(error ? { kind: 'error', error } : { kind: 'next' })
      const thrown = (error: unknown): void => resolve({ kind: 'thrown', error })
      out.once('close', () => resolve({ kind: 'ended' }))
      try {
        Promise.resolve(hook(req, res, next)).catch(thrown)
      } catch (error) {
        thrown(error)
      }
    })
    if (outcome.kind !== 'next') return outcome
  }
  return { kind: 'next' }
}

function findRoute(manifest: Manifest, method: string, apiPath: string) {
  for (const [key, hooks] of Object.entries(manifest.routehooks)) {
    const space = key.indexOf(' ')
    const found = ['*', method].includes(key.slice(0, space)) ? match(key.slice(space + 1), apiPath) : null
    if (found) return { hooks, params: { ...found.groups } }
  }
  return null
}

/** Without regard to case, a slash at the end does not count, `*` is anything, `.` is itself; nothing is decoded. */
function match(pattern: string, apiPath: string): RegExpExecArray | null {
  if (pattern.startsWith('{"$regex"')) {
    const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(JSON.parse(pattern).$regex) ?? []
    return new RegExp(source, flags).exec(apiPath)
  }
  const source = pattern
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replace(/:(\w+)/g, '(?<$1>[^/]+)')
  return new RegExp(`^${source}/?$`, 'i').exec(apiPath)
}

/** Forms and JSON are read by the host; null: the stream is left to the application. */
async function readBody(raw: IncomingMessage): Promise<string | null> {
  if (!/^application\/(.*json|x-www-form-urlencoded)/.test(raw.headers['content-type'] ?? '')) return null
  const chunks: Buffer[] = []
  for await (const chunk of raw) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function createRequest(raw: IncomingMessage, text: string | null, path: string, apiPath: string): HostRequest {
  const json = /json/.test(raw.headers['content-type'] ?? '')
  const url = raw.url ?? '/'
  return {
    method: raw.method ?? 'GET',
    hostname: (raw.headers.host ?? '').replace(/:\d+$/, ''),
    headers: { ...raw.headers },
    query: readPairs(url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''),
    params: {},
    body: text === null ? {} : json ? readJson(text) : readPairs(text),
    ...(text !== null && json ? { rawBody: text } : {}),
    path,
    apiPath,
    originalUrl: url,
    on: (event, listener) => raw.on(event, listener),
    pipe: (target) => raw.pipe(target),
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function readPairs(text: string): Record<string, string | string[]> {
  const pairs: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = pairs[name]
    pairs[name] = earlier === undefined ? value : [earlier, value].flat()
  }
  return pairs
}

/** Only what the platform documents: no `cookie`, `type`, `append`, `get` or `locals`. */
function createResponse(out: ServerResponse): HostResponse {
  const set = (name: string, value: string | string[]) => {
    out.setHeader(name, value)
    return res
  }
  const res: HostResponse = {
    status(code) {
      out.statusCode = code
      return res
    },
    set,
    setHeader: set,
    headers(values) {
      for (const [name, value] of Object.entries(values)) out.setHeader(name, value)
      return res
    },
    removeHeader(name) {
      out.removeHeader(name)
      return res
    },
    write(data, type) {
      if (typeof data !== 'string' && type !== 'buffer') throw new TypeError('binary data needs the type "buffer"')
      out.write(data)
      return res
    },
    end: (data) => void out.end(typeof data === 'object' ? JSON.stringify(data) : data),
    send: (data) => res.end(data),
    json(value) {
      if (!out.hasHeader('content-type')) out.setHeader('content-type', 'application/json')
      out.end(JSON.stringify(value))
    },
    redirect(...target) {
      const [code, url] = target.length === 2 ? target : ([302, target[0]] as const)
      out.writeHead(code, { location: url }).end()
    },
  }
  return res
}
