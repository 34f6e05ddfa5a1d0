import { SettingsError } from '../../errors.js'
import { hasCode } from '../has-code.js'

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
