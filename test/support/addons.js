// Which native addons this process can load. `node --no-addons` switches all of them off, and better-sqlite3 is built for
// the Node that installed it. Tests whose subject is an addon say `skipIf(!hasArgon2)` and count as skipped there.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export const hasArgon2 = works(() => require('@node-rs/argon2'))

/** The package loads its addon with the first database. Without it, tests look at files through `node-sqlite.js`. */
export const hasBetterSqlite = works(() => new (require('better-sqlite3'))(':memory:').close())

/** @param {() => unknown} load */
function works(load) {
  try {
    load()
    return true
  } catch {
    return false
  }
}
