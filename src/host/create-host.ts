import type { Host, HostOptions } from './host-options.js'
import { lazyHost } from './lazy-host.js'
import { ignoreDebugger } from './runner/ignore-debugger.js'
import { parseHostSettings } from './settings/host-settings.js'
import type { HostSettingsInput } from './settings/input.js'

export type { MailInput } from '../settings/input.js'
export type { Host, HostOptions } from './host-options.js'

export type { CompatInput, HostAccountsInput, HostLimitsInput, HostSettingsInput } from './settings/input.js'
export type { Size } from './settings/limits.js'

// When the module loads, not when a host is made: from then on the process may hold secrets.
ignoreDebugger()

/**
 * Creates a host: it runs applications below `baseUrl` and is administered at `adminUrl`. Nothing is opened before `listen`.
 * The program's environment is not read; `latchkey serve` does the same with a file of settings.
 *
 * @throws {SettingsError} with every fault of the settings at once
 * @example
 * import { createHost } from 'latchkey/host'
 *
 * const host = createHost({ baseUrl: 'https://api.example.com', adminUrl: 'https://admin.example.net', mail })
 * await host.listen()
 * process.once('SIGTERM', () => host.close())
 */
export function createHost(input: HostSettingsInput, options: HostOptions = {}): Host {
  return lazyHost(parseHostSettings(input), options)
}
