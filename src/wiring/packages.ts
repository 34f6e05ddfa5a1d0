import { SettingsError, type SettingsFault } from '../errors.js'
import { packageFault } from '../lib/optional-package.js'
import { createArgon2Package } from '../passwords/argon2-package.js'
import type { Settings } from '../settings.js'
import { missingSqliteDriver, nodeBringsSqlite } from '../store/sql/engine/sqlite-driver.js'

/**
 * Whether the optional packages are there that the settings ask for: found out at once, not at the first sign-in.
 *
 * @throws {SettingsError}
 */
export function requirePackages(settings: Settings): void {
  const found = [argon2Fault(settings), databaseFault(settings), redisFault(settings)]
  const faults = found.filter((fault) => fault !== null)
  if (faults.length > 0) throw new SettingsError(faults)
}

function argon2Fault({ password }: Settings): SettingsFault | null {
  if (password.algorithm !== 'argon2id') return null
  const fault = createArgon2Package().fault()
  if (fault === null) return null
  const message = `argon2id needs a package that cannot be loaded here (${fault}): npm install @node-rs/argon2`
  return { setting: 'password.algorithm', message }
}

function databaseFault({ database }: Settings): SettingsFault | null {
  if (database.kind === 'postgres') return peerFault('database', 'pg')
  if (database.kind === 'mysql') return peerFault('database', 'mysql2')
  if (database.kind !== 'sqlite' || nodeBringsSqlite() || packageFault('better-sqlite3') === null) return null
  return { setting: 'database', message: missingSqliteDriver }
}

function redisFault({ redis }: Settings): SettingsFault | null {
  return typeof redis === 'string' ? peerFault('redis', 'ioredis') : null
}

function peerFault(setting: string, name: string): SettingsFault | null {
  const fault = packageFault(name)
  if (fault === null) return null
  return { setting, message: `needs a package that cannot be loaded here (${fault}): npm install ${name}` }
}
