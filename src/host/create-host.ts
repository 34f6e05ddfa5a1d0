import { hasCode } from './has-code.js'
import type { Host, HostOptions } from './host-options.js'
import { type HostSettings, parseHostSettings } from './settings/host-settings.js'
import type { HostSettingsInput } from './settings/input.js'
import { morePackages } from './spaces/more-packages.js'

export type { Host, HostOptions } from './host-options.js'
export type { CompatInput, HostAccountsInput, HostLimitsInput, HostSettingsInput } from './settings/input.js'
export type { Size } from './settings/size.js'

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
  const settings = parseHostSettings(input)
  let host: Promise<Host> | null = null
  const loaded = () => {
    host ??= loadHost().then((create) => create(settings, options))
    return host
  }
  return {
    listen: async () => (await loaded()).listen(),
    // A host that could not be loaded has opened nothing.
    close: async () => (await loaded().catch(() => null))?.close(),
  }
}

/** Loads what needs the optional packages. @throws {SettingsError} that names the packages that are missing */
async function loadHost() {
  try {
    const [{ createHostOf }, { createHostPieces }] = [await import('./host.js'), await import('./host-pieces.js')]
    return (settings: HostSettings, options: HostOptions) => createHostOf(settings, createHostPieces(), options)
  } catch (error) {
    throw hasCode(error, 'ERR_MODULE_NOT_FOUND') ? morePackages() : error
  }
}
