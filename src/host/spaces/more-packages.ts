import { SettingsError } from '../../errors.js'

/** Optional packages of this package that a host needs. */
const hostPackages = ['undici@7', 'mingo@7', 'tar-stream@3']

/** The fault of a host whose packages are not installed. */
export function morePackages(): SettingsError {
  return new SettingsError([
    { setting: 'host', message: `needs more packages. Run: npm install ${hostPackages.join(' ')}` },
  ])
}
