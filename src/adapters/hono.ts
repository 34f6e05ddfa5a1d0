import { SettingsError, type SettingsFault } from '../errors.js'
import type { HttpRequest } from '../http/message.js'
import type { Handle } from '../http/verdict.js'
import { type Adapter, decide, failure } from './adapter.js'
import { toResponse } from './fetch-message.js'
import { addAfter, addBefore } from './hono-answer.js'
import { type HonoContext, HonoMessage, present } from './hono-message.js'
import { basePathFault, type HonoApp, type HonoGate, lateFault } from './hono-routes.js'

/**
 * Hono 4, on any runtime. The layer is the application's first middleware: a route that was there before would not stand
 * behind it, so then `init` throws. Handlers read the principal by `c.get('auth')`.
 */
export const hono: Adapter<HonoGate> = {
  name: 'Hono 4',
  recognises: isHono,
  mount(app, handle, mounting) {
    if (!isHono(app)) throw new TypeError('not a Hono application')
    requireNone(lateFault(app.routes, mounting))
    let layer = '/*'
    app.use(createMiddleware(handle, (context) => new HonoMessage(context, layer)))
    layer = app.routes.at(-1)?.path ?? layer
    requireNone(basePathFault(layer, mounting.basePath))
  },
  gate: (ask) => (context, next) => {
    const found = context.get('auth') ?? null
    const gate = createMiddleware(
      (message) => ask(message, found),
      (given) => new HonoMessage(given, null),
    )
    return gate(context, next)
  },
}

function isHono(app: unknown): app is HonoApp {
  if (typeof app !== 'object' || app === null || !Array.isArray(Reflect.get(app, 'routes'))) return false
  return ['use', 'fetch', 'fire', 'basePath'].every((name) => typeof Reflect.get(app, name) === 'function')
}

function requireNone(fault: SettingsFault | null): void {
  if (fault !== null) throw new SettingsError([fault])
}

function createMiddleware(handle: Handle, read: (context: HonoContext) => HttpRequest): HonoGate {
  return async function latchkey(context, next) {
    const judged = decide(handle, read(context), null)
    const verdict = 'then' in judged ? await judged : judged
    const { method } = context.req.raw
    if (verdict.kind === 'answer') return toResponse(method, verdict.response)
    const { responseHeaders } = verdict
    try {
      present(context, verdict)
      if (responseHeaders !== null) addBefore(context, responseHeaders)
    } catch {
      return toResponse(method, failure)
    }
    await next()
    if (responseHeaders !== null) addAfter(context, responseHeaders)
    return undefined
  }
}
