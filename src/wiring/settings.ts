import { type FurtherProvidersInput, providerKinds } from '../oauth/providers.js'
import type { SettingsInputWith } from '../settings/input.js'
import { parseSettings, type Settings } from '../settings.js'

/**
 * What an application writes. Durations are texts of a whole number and one of `s m h d w`: `'15m'`. Unknown names are
 * faults. Nothing is read from the environment.
 *
 * @example
 * init(app, {
 *   JWT_ACCESS_TOKEN_SECRET: process.env.JWT_ACCESS_TOKEN_SECRET,
 *   JWT_REFRESH_TOKEN_SECRET: process.env.JWT_REFRESH_TOKEN_SECRET,
 *   baseUrl: 'https://app.example.com',
 *   mail: { from: 'App <no-reply@app.example.com>', transport: process.env.SMTP_URL },
 * })
 */
export type SettingsInput = SettingsInputWith<FurtherProvidersInput>

/** Parses the settings of an application. @throws {SettingsError} with every fault at once */
export function readSettings(input: unknown, world: { testing: boolean }): Settings {
  return parseSettings(input, world, providerKinds)
}
