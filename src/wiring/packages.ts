import { SettingsError, type SettingsFault } from '../errors.js'
import { createArgon2Package } from '../passwords/argon2-package.js'
import type { Settings } from '../settings.js'
import { redisPackageFault } from '../store/redis/package.js'

/**
 * Whether the optional packages are there that the settings ask for: found out at once, not at the first sign-in.
 *
 * @throws {SettingsError}
 */
export function requirePackages(settings: Settings): void {
  const faults = [argon2Fault(settings), redisFault(settings)].filter((fault) => fault !== null)
  if (faults.length > 0) throw new SettingsError(faults)
}

function argon2Fault({ password }: Settings): SettingsFault | null {
  if (password.algorithm !== 'argon2id') return null
  const fault = createArgon2Package().fault()
  if (fault === null) return null
  const message = `argon2id needs a package that cannot be loaded here (${fault}): npm install @node-rs/argon2`
  return { setting: 'password.algorithm', message }
}

function redisFault({ redis }: Settings): SettingsFault | null {
  const fault = redis === null ? null : redisPackageFault()
  if (fault === null) return null
  return { setting: 'redis', message: `needs a package that cannot be loaded here (${fault}): npm install ioredis` }
}
