import { adapterFor } from './adapters/index.js'
import { type Auth, assemble } from './auth.js'
import { SettingsError } from './errors.js'
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
  const {
    auth,
    handle,
    settings: parsed,
  } = assemble(settings, adapter.gate, runtime, (checked) => {
    if (adapter.echoesCors && checked.cookies.sameSite === 'none') throw new SettingsError([crossSiteCookies])
  })
  const { basePath, baseAPIRoutes, publicRoutes } = parsed
  adapter.mount(app, handle, { basePath, guarded: baseAPIRoutes, publicRoutes })
  return auth
}

const crossSiteCookies = {
  setting: 'cookies.sameSite',
  message: 'cannot be none here: this platform lets every origin read answers, so cookies must stay on one site',
}
