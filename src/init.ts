import { adapterFor } from './adapters/index.js'
import { type Auth, assemble } from './auth.js'
import type { Runtime } from './lib/runtime.js'
import type { SettingsInput } from './settings.js'

/**
 * Installs Latchkey into an application: mounts the auth routes and puts the guard in front of everything the
 * application has or will have. Synchronous, because an application exports itself right after.
 *
 * @param app a codehooks-js app, or an Express 4 or 5 app
 * @throws {SettingsError} with every fault of the settings at once, or when nothing recognises the app
 * @example
 * const auth = init(app, { JWT_ACCESS_TOKEN_SECRET, JWT_REFRESH_TOKEN_SECRET, baseUrl: 'https://app.example' })
 */
export function init(app: unknown, settings: SettingsInput, runtime?: Runtime): Auth {
  const adapter = adapterFor(app)
  const assembled = assemble(settings, runtime)
  const { basePath, baseAPIRoutes, publicRoutes } = assembled.settings
  adapter.mount(app, assembled.handle, { basePath, guarded: baseAPIRoutes, publicRoutes })
  return assembled.auth
}
