import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { morePackages } from './more-packages.js'

/** What processes and threads run, besides the application. Absolute paths. */
export interface ChildPrograms {
  /** `runner.mjs`, which the build makes. */
  runner: string
  /** mingo's CommonJS build. */
  mingo: string
  /** Of a data thread. Default: that of this package. */
  thread?: URL
  /** Of a worker for queries, a file. Default: that of this package. */
  query?: URL
  /** How long a query may run. Default: 30 s. */
  queryMs?: number
}

/** Those of this package. @throws {SettingsError} when a package that the host needs is not installed */
export function ownPrograms(): ChildPrograms {
  return { runner: fileURLToPath(new URL('./runner.mjs', import.meta.url)), mingo: findPackages() }
}

/** Finds mingo. The host loads tar-stream with the first deploy, which is too late to miss it. */
function findPackages(): string {
  const { resolve } = createRequire(import.meta.url)
  try {
    resolve('tar-stream')
    return resolve('mingo')
  } catch {
    throw morePackages()
  }
}
