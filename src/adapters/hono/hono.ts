import { SettingsError, type SettingsFault } from '../../errors.js'
import type { Adapter } from '../adapter.js'
import { type HonoGate, isHono } from './app.js'
import { createLayer } from './layer.js'
import { HonoMessage } from './message.js'
import { baseFaults, handledPaths, lateFault } from './routes.js'

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
