import { ServerResponse } from 'node:http'
import { SettingsError, type SettingsFault } from '../../errors.js'
import type { Handle, Pass, Verdict } from '../../http/verdict.js'
import { hasMethods, memberOf } from '../../lib/members.js'
import { type Adapter, decide, failure, type Mounting } from '../adapter.js'
import { toResponse } from '../fetch.js'
import { addHeaders } from '../node/late-vary.js'
import { meets } from '../route-coverage.js'
import { variesBy } from '../vary.js'
import { type HonoContext, HonoMessage, present } from './message.js'

/**
 * Hono 4, on any runtime. The layer is the application's first middleware. An earlier route would not be guarded, so then
 * `init` throws. Handlers read the principal by `c.get('auth')`.
 */
export const hono: Adapter<HonoGate> = {
  name: 'Hono 4',
  recognises: isHono,
  mount(app, handle, mounting) {
    if (!isHono(app)) throw new TypeError('not a Hono application')
    const late = lateFault(app.routes, mounting)
    requireNone(late === null ? [] : [late])
    let path = '/*'
    const layer = createLayer(handle, (context) => new HonoMessage(context, path))
    app.use(layer)
    path = app.routes.at(-1)?.path ?? path
    requireNone(baseFaults(path, mounting))
  },
  routes: (app) => (isHono(app) ? handledPaths(app.routes) : null),
  gate(ask) {
    return (context, next) => {
      const found = context.get('auth') ?? null
      const gate = createLayer(
        (message) => ask(message, found),
        (given) => new HonoMessage(given, null),
      )
      return gate(context, next)
    }
  },
}

function requireNone(faults: readonly SettingsFault[]): void {
  if (faults.length > 0) throw new SettingsError(faults)
}

/** Middleware that asks for a verdict on each request, as `read` shows it. */
function createLayer(handle: Handle, read: (context: HonoContext) => HonoMessage): HonoGate {
  return async function latchkey(context, next) {
    const message = read(context)
    const verdict = decide(handle, message, null)
    return carryOut(message, 'then' in verdict ? await verdict : verdict, next)
  }
}

/** Returns our response, or undefined once `next` has made the application's. */
async function carryOut(message: HonoMessage, verdict: Verdict, next: HonoNext): Promise<Response | undefined> {
  if (verdict.kind === 'answer') return toResponse(message.method, verdict.response)
  const failed = admit(message, verdict)
  if (failed !== null) return failed
  await next()
  if (verdict.responseHeaders !== null) addAfter(message.context, verdict.responseHeaders)
  return undefined
}

/** Shows the application the request that it may see. Returns a refusal if that fails. */
function admit(message: HonoMessage, pass: Pass): Response | null {
  try {
    present(message, pass)
    if (pass.responseHeaders !== null) addBefore(message.context, pass.responseHeaders)
    return null
  } catch {
    return toResponse(message.method, failure)
  }
}

/** Refuses routes that were added before and could answer a guarded path or one of our own. */
function lateFault(routes: readonly HonoRoute[], { basePath, guarded }: Mounting): SettingsFault | null {
  const found = routes.find(({ path }) => [basePath, ...guarded].some((prefix) => meets(path, prefix)))
  if (!found) return null
  const { method, path } = found
  return {
    setting: 'app',
    message: `${method} ${path} was there before: move init above it, or nothing would guard it`,
  }
}

/**
 * An application with a `basePath` of its own gets only requests below it. So our routes must lie below it, too, and a guarded
 * prefix elsewhere would guard nothing.
 */
function baseFaults(layer: string, { basePath, guarded }: Mounting): SettingsFault[] {
  const base = layer.slice(0, -2)
  const where = `must lie below ${base}, where the application stands, such as ${base}`
  const ours = `${basePath}/`.startsWith(`${base}/`)
  const reached = guarded.every((prefix) => meets(layer, prefix))
  return [
    ...(ours ? [] : [{ setting: 'basePath', message: `${where}/auth` }]),
    ...(reached ? [] : [{ setting: 'baseAPIRoutes', message: `${where}/api` }]),
  ]
}

/** The paths that handlers answer. Middleware for a whole prefix is no route: Hono keeps it as `ALL /prefix/*`. */
function handledPaths(routes: readonly HonoRoute[]): string[] {
  return routes.filter(({ method, path }) => method !== 'ALL' || !path.endsWith('*')).map(({ path }) => path)
}

type Added = Readonly<Record<string, string>>

/**
 * Headers for the application's response, before there is one. On node they are set on node's response, as with every other
 * framework there: headers that the application sets later replace them. As headers of Hono's own they would cost a copy of
 * each response.
 *
 * Throws when one of them cannot be written.
 */
function addBefore(context: HonoContext, headers: Added): void {
  const outgoing = outgoingOf(context.env)
  if (outgoing === null) {
    new Headers(headers)
    return
  }
  const { vary, ...others } = headers
  if (vary !== undefined) context.header('vary', vary, { append: true })
  addHeaders(outgoing, others)
}

/** Adds the rest afterwards. An entry of `Vary` is added if it is missing. */
function addAfter(context: HonoContext, headers: Added): void {
  const early = outgoingOf(context.env) !== null
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (name !== 'vary') {
      if (!early) context.header(name, value)
    } else if (!early || !variesBy(context.res.headers.get(name), value)) context.header(name, value, { append: true })
  }
}

/** @hono/node-server gives `{ incoming, outgoing }`. */
function outgoingOf(env: unknown): ServerResponse | null {
  const outgoing = env instanceof Object && 'outgoing' in env ? env.outgoing : null
  return outgoing instanceof ServerResponse ? outgoing : null
}

/** The part of a Hono application that we use. */
export interface HonoApp {
  readonly routes: HonoRoute[]
  use(middleware: HonoGate): unknown
  fire(): void
}

/** Runs the middleware and handlers that follow. */
type HonoNext = () => Promise<void>

/** Middleware of Hono for one route. */
export type HonoGate = (context: HonoContext, next: HonoNext) => Promise<Response | undefined>

/** The part of a route that Hono keeps. */
interface HonoRoute {
  method: string
  /** `/api/:id{[0-9]+}`, `/files/*`; middleware for everything has `/*`. */
  path: string
}

function isHono(app: unknown): app is HonoApp {
  if (typeof app !== 'object' || !Array.isArray(memberOf(app, 'routes'))) return false
  return hasMethods(app, ['use', 'fetch', 'fire', 'basePath'])
}
