import type { HonoApp, HonoGate } from './adapters/hono/hono.js'
import { adapterFor } from './adapters/index.js'
import type { FastifyApp, FastifyGate } from './adapters/node/fastify.js'
import { watchRoutes } from './adapters/route-coverage.js'
import { type Auth, assemble } from './auth.js'
import { SettingsError } from './errors.js'
import type { Runtime } from './lib/runtime.js'
import type { SettingsInput } from './wiring/settings.js'

/**
 * Installs Latchkey into an application: mounts the auth routes and puts the guard in front of everything that the
 * application has or will have. It is synchronous, because an application exports itself right after. The store
 * begins to open.
 *
 * @param app a codehooks-js, Express 4 or 5, Fastify 5, Hono 4 or connect application, or a server of `node:http`
 * @throws {SettingsError} with every fault of the settings at once, when no adapter recognises the app, or when the app
 *   already has routes that the guard would not cover; the message says what to move
 * @example
 * const auth = init(app, { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET, baseUrl: 'https://app.example' })
 */
export function init(app: HonoApp, settings: SettingsInput, runtime?: Runtime): Auth<HonoGate>
export function init(app: FastifyApp, settings: SettingsInput, runtime?: Runtime): Auth<FastifyGate>
export function init(app: unknown, settings: SettingsInput, runtime?: Runtime): Auth
export function init(app: unknown, settings: SettingsInput, runtime?: Runtime): Auth<unknown> {
  requireFirst(app)
  const adapter = adapterFor(app)
  const { auth, start, handle, watch, ...made } = assemble(
    withSuffix(settings, adapter.cookieSuffix?.() ?? null),
    adapter.gate,
    runtime,
    (checked) => {
      if (adapter.echoesCors && checked.cookies.sameSite === 'none') throw new SettingsError([crossSiteCookies])
    },
  )
  const { basePath, baseAPIRoutes: guarded, publicRoutes, authenticate, logger } = made.settings
  const hooked = authenticate !== null
  const watched = watchRoutes(made.settings, made.atRoot, () => adapter.routes?.(app) ?? null, handle)
  adapter.mount(app, watched, { basePath, atRoot: made.atRoot, guarded, publicRoutes, hooked, watch, logger })
  if (app instanceof Object) Object.defineProperty(app, installed, { value: true })
  // In a microtask, so that a call of `auth.migrations()` right after this one still finds the store unopened.
  queueMicrotask(start)
  return auth
}

/** Every copy of this package uses the same symbol. */
const installed = Symbol.for('latchkey.installed')

/** Two instances in a row would each refuse requests that the other accepts. */
function requireFirst(app: unknown): void {
  if (!(app instanceof Object && Object.hasOwn(app, installed))) return
  throw new SettingsError([{ setting: 'app', message: 'has been given to init already: once for each application' }])
}

/** Spaces of a host share an origin, and `__Host-` cookies have no path that would keep them apart. */
function withSuffix(input: SettingsInput, suffix: string | null): SettingsInput {
  if (suffix === null || input?.cookies?.suffix !== undefined) return input
  return { ...input, cookies: { ...input?.cookies, suffix } }
}

const crossSiteCookies = {
  setting: 'cookies.sameSite',
  message: 'cannot be none here: this platform lets every origin read answers, so cookies must stay on one site',
}
