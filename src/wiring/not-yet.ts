import { SettingsError, type SettingsFault } from '../errors.js'
import type { Settings } from '../settings.js'

/**
 * Settings that this release reads but cannot keep. One that would leave something open if it were ignored is a fault;
 * one that would only leave something out is said in the log.
 *
 * @throws {SettingsError}
 */
export function refuseNotYet(settings: Settings): void {
  const faults = unsafeToIgnore(settings)
  if (faults.length > 0) throw new SettingsError(faults)
  for (const setting of leftOut(settings)) {
    settings.logger.warn({ event: 'setting_ignored', setting }, 'This setting takes effect in a later release.')
  }
}

function unsafeToIgnore(settings: Settings): SettingsFault[] {
  const { allowList, jwks, authenticate } = settings
  const asked: Readonly<Record<string, boolean>> = {
    allowList: allowList.length > 0,
    jwks: jwks !== null,
    authenticate: authenticate !== null,
  }
  return Object.entries(asked)
    .filter(([, isAsked]) => isAsked)
    .map(([setting]) => ({ setting, message: 'arrives with a later release, and nothing may rely on it before' }))
}

function leftOut(settings: Settings): string[] {
  const { redis, admin } = settings
  const asked: Readonly<Record<string, boolean>> = {
    redis: redis !== null,
    'admin.emails': admin.emails.length > 0,
  }
  return Object.keys(asked).filter((setting) => asked[setting])
}
