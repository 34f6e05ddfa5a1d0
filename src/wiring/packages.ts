import { SettingsError } from '../errors.js'
import { createArgon2Package } from '../passwords/argon2-package.js'
import type { Settings } from '../settings.js'

/**
 * Whether the optional packages are there that the settings ask for: found out at once, not at the first sign-in.
 *
 * @throws {SettingsError}
 */
export function requirePackages({ password }: Settings): void {
  if (password.algorithm !== 'argon2id') return
  const fault = createArgon2Package().fault()
  if (fault === null) return
  const message = `argon2id needs a package that cannot be loaded here (${fault}): npm install @node-rs/argon2`
  throw new SettingsError([{ setting: 'password.algorithm', message }])
}
