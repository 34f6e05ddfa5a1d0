import { createHostOf, type Host, type HostOptions } from './host.js'
import { createHostPieces } from './host-pieces.js'
import { parseHostSettings } from './settings/host-settings.js'
import type { HostSettingsInput } from './settings/input.js'

/**
 * Creates a host: it runs applications below `baseUrl` and is administered at `adminUrl`. Nothing is opened before `listen`.
 *
 * @throws {SettingsError} with every fault of the settings at once
 * @example
 * const host = createHost({ baseUrl: 'https://api.example.com', adminUrl: 'https://admin.example.net', mail })
 * await host.listen()
 */
export function createHost(input: HostSettingsInput, options: HostOptions = {}): Host {
  return createHostOf(parseHostSettings(input), createHostPieces(), options)
}
