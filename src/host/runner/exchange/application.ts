import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { ReleaseFiles } from '../files.js'
import { hopHeader, principalHeader } from '../hop.js'
import { type ParsedBody, readBody } from './body.js'
import { type Outcome, runChain } from './chain.js'
import { type Hook, hooksOf, layerOf, type Manifest, splitKey } from './manifest.js'
import { createMatch, type Match } from './match.js'
import { type ProblemCode, problem, sendProblem } from './problem.js'
import { type Arrival, createRequest } from './request.js'
import { type AppResponse, createResponse, type Render } from './response.js'

export interface ApplicationOptions {
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
