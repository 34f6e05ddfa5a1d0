import type { HonoApp, HonoGate } from './adapters/hono/app.js'
import { adapterFor } from './adapters/index.js'
import type { FastifyApp, FastifyGate } from './adapters/node/fastify-shape.js'
import { type Auth, assemble } from './auth.js'
import { SettingsError } from './errors.js'
import type { Runtime } from './lib/runtime.js'
import type { SettingsInput } from './wiring/settings.js'

/**
 * Installs Latchkey into an application: mounts the auth routes and puts the guard in front of everything the
 * application has or will have. Synchronous, because an application exports itself right after.
 *
 * @param app a codehooks-js, Express 4 or 5, Fastify 5, Hono 4 or connect application, or a server of `node:http`
 * @throws {SettingsError} with every fault of the settings at once, when nothing recognises the app, or when the app has
 *   routes already that would not stand behind the guard; the message says what to move
 * @example
 * const auth = init(app, { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET, baseUrl: 'https://app.example' })
 */
export function init(app: HonoApp, settings: SettingsInput, runtime?: Runtime): Auth<HonoGate>
export function init(app: FastifyApp, settings: SettingsInput, runtime?: Runtime): Auth<FastifyGate>
export function init(app: unknown, settings: SettingsInput, runtime?: Runtime): Auth
export function init(app: unknown, settings: SettingsInput, runtime?: Runtime): Auth<unknown> {
  requireFirst(app)
  const adapter = adapterFor(app)
  const { auth, handle, watch, ...made } = assemble(settings, adapter.gate, runtime, (checked) => {
    if (adapter.echoesCors && checked.cookies.sameSite === 'none') throw new SettingsError([crossSiteCookies])
  })
  const { basePath, baseAPIRoutes, publicRoutes } = made.settings
  adapter.mount(app, handle, { basePath, guarded: baseAPIRoutes, publicRoutes, watch })
  if (app instanceof Object) Object.defineProperty(app, installed, { value: true })
  return auth
}

/** Every copy of this package looks for the same. */
const installed = Symbol.for('latchkey.installed')

/** Two in a row would each refuse what the other lets in. */
function requireFirst(app: unknown): void {
  if (!(app instanceof Object && Object.hasOwn(app, installed))) return
  throw new SettingsError([{ setting: 'app', message: 'has been given to init already: once for each application' }])
}

const crossSiteCookies = {
  setting: 'cookies.sameSite',
  message: 'cannot be none here: this platform lets every origin read answers, so cookies must stay on one site',
}
