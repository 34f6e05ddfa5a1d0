import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { ReleaseFiles } from '../files.js'
import { hopHeader, principalHeader } from '../hop.js'
import { type Hook, hooksOf, layerOf, type Manifest, splitKey } from './manifest.js'
import { type ProblemCode, problem, sendProblem } from './problem.js'
import { type Arrival, createRequest, type ParsedBody, readBody } from './request.js'
import { type AppResponse, createResponse, type Render } from './response.js'

interface ApplicationOptions {
  manifest: Manifest
  /** `/dev`; empty for a host whose addresses have no space. */
  spacePath: string
  /** Largest parsed body, and the time without a byte after which a request ends. */
  limits: { bodyBytes: number; requestMs: number }
  /** Where the behaviour of the platform is wanted. */
  compat: { errors: 'problem' | 'platform'; cors: 'own' | 'echo' }
  originOf: ReleaseFiles['originOf']
  /** What hooks and handlers threw or passed to `next`. */
  onFault(error: unknown): void
}

/** Serves one request. `principal` is frozen; null for a request without one. Never rejects. */
export type Serve = (raw: IncomingMessage, out: ServerResponse, principal: object | null) => Promise<void>

interface Wired extends ApplicationOptions {
  match: Match
}

/** One request on its way through the application. */
interface Exchange {
  arrival: Arrival
  res: AppResponse
  out: ServerResponse
}

/** Runs a codehooks-js application: its first matching auth hook, its first matching route, its middleware, its handlers. */
export function createApplication(options: ApplicationOptions): Serve {
  const wired: Wired = { ...options, match: createMatch() }
  return async (raw, out, principal) => {
    endWhenIdle(wired, raw, out)
    try {
      await serve(wired, raw, out, principal)
    } catch (error) {
      // A client that leaves while its body is being read is no fault of the application.
      if (raw.destroyed && !raw.complete) return
      options.onFault(error)
      answer(out, raw.headers, 'internal_error')
    }
  }
}

/** Ends a request by the timeout of its socket, which every byte in either direction restarts. */
function endWhenIdle({ limits, onFault }: Wired, raw: IncomingMessage, out: ServerResponse): void {
  out.setTimeout(limits.requestMs, () => {
    if (!out.writableEnded) onFault(new Error('The application did not answer in time.'))
    answer(out, raw.headers, 'application_timeout')
  })
}

async function serve(wired: Wired, raw: IncomingMessage, out: ServerResponse, principal: object | null): Promise<void> {
  const { manifest, spacePath, limits, compat, originOf, onFault } = wired
  const headers = dropOurs(raw)
  const [path = '/'] = (raw.url ?? '/').split('?')
  if (!`${path}/`.startsWith(`${spacePath}/`)) return answer(out, headers, 'not_found')
  const apiPath = path.slice(spacePath.length) || '/'
  const fixed = compat.cors === 'echo' ? echoOrigin(out, headers) : new Set<string>()
  if (apiPath === '/health' && raw.method === 'GET') return void out.end('Alive')

  const read = await readBody(raw, limits.bodyBytes)
  const fault = typeof read === 'string' ? read : null
  const parsed = typeof read === 'string' ? unparsedBody : read
  const exchange: Exchange = {
    arrival: { raw, headers, path, apiPath, parsed, principal },
    res: createResponse(out, {
      request: { method: raw.method ?? 'GET', headers },
      originOf,
      render: renderOf(manifest),
      fixed,
      onFault,
    }),
    out,
  }
  if (principal === null && !(await passesHook(wired, exchange))) return
  if (fault === null) return runRoute(wired, exchange)
  // A client learns what is wrong with its body after its access was checked. The rest of the body is not read.
  out.setHeader('connection', 'close')
  answer(out, headers, fault)
}

/** What an auth hook sees of a body that cannot be parsed. */
const unparsedBody: ParsedBody = { body: {}, rawBody: '' }

/** Removes our headers, also from Node's message, which application code reaches through its response. */
function dropOurs(raw: IncomingMessage): IncomingHttpHeaders {
  const ours: readonly string[] = [hopHeader, principalHeader]
  for (const name of ours) {
    delete raw.headers[name]
    // Node makes this object of `rawHeaders` at its first use, so it comes before `rawHeaders` is replaced.
    delete raw.headersDistinct[name]
  }
  const names = raw.rawHeaders.filter((_, index) => index % 2 === 0)
  raw.rawHeaders = names.flatMap((name, index) =>
    ours.includes(name.toLowerCase()) ? [] : [name, raw.rawHeaders[2 * index + 1] ?? ''],
  )
  return raw.headers
}

/** Whether the first auth hook that matches calls `next()`. Any other outcome ends the request here. */
async function passesHook(wired: Wired, { arrival, res, out }: Exchange): Promise<boolean> {
  const { manifest, match, onFault } = wired
  const entry = Object.entries(manifest.authhooks).find(([pattern]) => match(pattern, arrival.apiPath))
  const hooks = entry === undefined ? [] : hooksOf(entry[1])
  if (entry === undefined || hooks.length === 0) {
    answer(out, arrival.headers, 'unauthenticated')
    return false
  }
  const params = match(entry[0], arrival.apiPath) ?? {}
  const outcome = await runChain(hooks, createRequest(arrival, params), res, out)
  if (outcome.kind === 'next') return true
  if (outcome.kind === 'ended') return false
  onFault(outcome.error)
  if (outcome.kind === 'refused') answer(out, arrival.headers, 'unauthenticated')
  else failed(wired, { arrival, res, out }, outcome.error)
  return false
}

async function runRoute(wired: Wired, exchange: Exchange): Promise<void> {
  const { manifest, match } = wired
  const { arrival, res, out } = exchange
  const route = findRoute(manifest, match, arrival)
  if (!route) return answer(out, arrival.headers, 'not_found')
  const middleware = manifest.globalhooks.flatMap((entry) => {
    const layer = layerOf(entry)
    return layer && (layer.pattern === null || match(layer.pattern, arrival.apiPath)) ? [layer.hook] : []
  })
  const req = createRequest(arrival, route.params)
  finish(wired, exchange, await runChain([...middleware, ...route.hooks], req, res, out))
}

interface Route {
  hooks: readonly Hook[]
  params: Readonly<Record<string, string>>
}

/** The first one registered. GET answers HEAD too; Node leaves the body out. */
function findRoute({ routehooks }: Manifest, match: Match, { raw, apiPath }: Arrival): Route | null {
  const methods = raw.method === 'HEAD' ? ['*', 'HEAD', 'GET'] : ['*', raw.method]
  for (const [key, entry] of Object.entries(routehooks)) {
    const { method, pattern } = splitKey(key)
    const params = methods.includes(method) ? match(pattern, apiPath) : null
    if (params) return { hooks: hooksOf(entry), params }
  }
  return null
}

function finish(wired: Wired, exchange: Exchange, outcome: Outcome): void {
  if (outcome.kind === 'ended') return
  // The last handler called `next()`.
  if (outcome.kind === 'next') return void answer(exchange.out, exchange.arrival.headers, 'not_found')
  wired.onFault(outcome.error)
  failed(wired, exchange, outcome.error)
}

/** Refusals of the store have codes of their own; everything else is a failure of the application. */
function failed({ compat }: Wired, { arrival, res, out }: Exchange, error: unknown): void {
  if (compat.errors === 'platform' && !out.headersSent) {
    return void res.status(200).json({ text: 'Unhandled Codehook exception, check logs', fatal: true })
  }
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
  const known = storeCodes.find((each) => each === code)
  const detail = known && error instanceof Error ? error.message : undefined
  answer(out, arrival.headers, known ?? 'internal_error', detail)
}

const storeCodes = ['already_exists', 'query_invalid', 'not_current', 'quota_exceeded', 'store_unavailable'] as const

function answer(out: ServerResponse, headers: IncomingHttpHeaders, code: ProblemCode, detail?: string): void {
  const requestId = headers['x-request-id']
  sendProblem(out, problem(code, typeof requestId === 'string' ? requestId : undefined, detail))
}

/** The platform lets every origin read every answer, with cookies, and the application cannot change that. */
function echoOrigin(out: ServerResponse, { origin }: IncomingHttpHeaders): ReadonlySet<string> {
  const names = ['access-control-allow-origin', 'access-control-allow-credentials'] as const
  if (origin !== undefined) out.setHeader(names[0], origin).setHeader(names[1], 'true').setHeader('vary', 'origin')
  return new Set(names)
}

function renderOf({ app }: Manifest): Render | null {
  const has = typeof app === 'object' && app !== null && 'render' in app
  return has && isRender(app.render) ? app.render : null
}

function isRender(value: unknown): value is Render {
  return typeof value === 'function'
}

type Outcome =
  | { kind: 'next' }
  /** The answer is complete, or the client has left. */
  | { kind: 'ended' }
  | { kind: 'refused' | 'thrown'; error: unknown }

/** Runs functions one after another, up to the first that does not call `next()`. Only the first call of a `next` counts. */
async function runChain(hooks: readonly Hook[], req: object, res: object, out: ServerResponse): Promise<Outcome> {
  for (const hook of hooks) {
    const outcome = await runOne(hook, req, res, out)
    if (outcome.kind !== 'next') return outcome
  }
  return { kind: 'next' }
}

function runOne(hook: Hook, req: object, res: object, out: ServerResponse): Promise<Outcome> {
  return new Promise((resolve) => {
    const settle = (outcome: Outcome): void => {
      out.off('close', ended)
      out.off('finish', ended)
      resolve(outcome)
    }
    const ended = (): void => settle({ kind: 'ended' })
    const next = (error?: unknown): void => settle(error ? { kind: 'refused', error } : { kind: 'next' })
    const thrown = (error: unknown): void => settle({ kind: 'thrown', error })
    out.once('close', ended)
    out.once('finish', ended)
    if (out.closed || out.writableFinished) return ended()
    try {
      Promise.resolve(hook(req, res, next)).catch(thrown)
    } catch (error) {
      thrown(error)
    }
  })
}

/** The parameters of a path that matches, by name; null when it does not. */
type Match = (pattern: string, path: string) => Readonly<Record<string, string>> | null

interface Compiled {
  regex: RegExp
  /** Of the `:name` parts, in order. A regular expression names its groups itself. */
  names: readonly string[]
}

/**
 * Matches the patterns of codehooks-js against paths without the space and the query. `*` is anything, `:name` is one segment,
 * case does not matter, a slash at the end is optional, nothing is decoded. A regular expression is kept as
 * `{"$regex":"/source/flags"}`.
 *
 * Each pattern is compiled once: routes may be registered at any time.
 */
export function createMatch(): Match {
  const compiled = new Map<string, Compiled>()
  return (pattern, path) => {
    const known = compiled.get(pattern) ?? compile(pattern)
    compiled.set(pattern, known)
    const found = known.regex.exec(path)
    if (!found) return null
    const named = known.names.map((name, index) => [name, found[index + 1] ?? ''])
    return { ...found.groups, ...Object.fromEntries(named) }
  }
}

/** @throws {SyntaxError} for a regular expression that cannot be read */
function compile(pattern: string): Compiled {
  if (pattern.startsWith('{"$regex"')) return { regex: readRegex(pattern), names: [] }
  const names = [...pattern.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const source = pattern
    .replace(/\/$/, '')
    .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:\w+/g, '([^/]+)')
    .replaceAll('*', '.*')
  return { regex: new RegExp(`^${source}/?$`, 'is'), names }
}

function readRegex(pattern: string): RegExp {
  const stored: unknown = JSON.parse(pattern)
  const text = typeof stored === 'object' && stored !== null && '$regex' in stored ? String(stored.$regex) : ''
  const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? []
  // With `g` or `y` a regular expression remembers where it stopped in another request's path.
  return new RegExp(source, flags.replaceAll(/[gy]/g, ''))
}
