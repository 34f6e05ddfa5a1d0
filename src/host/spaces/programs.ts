import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { SettingsError } from '../../errors.js'
import { hasCode } from '../has-code.js'

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

/** Optional packages of this package that a host needs. */
const hostPackages = ['undici@7', 'mingo@7', 'tar-stream@3']
/** What the fault names in place of a setting. */
const setting = 'host'

/** The fault of a host whose packages are not installed. */
export function morePackages(): SettingsError {
  return new SettingsError([{ setting, message: `needs more packages. Run: npm install ${hostPackages.join(' ')}` }])
}

export function isMorePackages({ faults }: SettingsError): boolean {
  return faults.some((fault) => fault.setting === setting)
}

/** Whether an import failed for want of one of them. */
export function lacksPackage(error: unknown): boolean {
  if (!hasCode(error, 'ERR_MODULE_NOT_FOUND') || !(error instanceof Error)) return false
  const { message } = error
  return hostPackages.some((each) => message.includes(`'${each.split('@')[0]}'`))
}
