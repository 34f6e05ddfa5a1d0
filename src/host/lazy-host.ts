import type { Host, HostOptions } from './host-options.js'
import type { HostSettings } from './settings/host-settings.js'
import { lacksPackage, morePackages } from './spaces/programs.js'

/** A host whose code, with the optional packages that it needs, is loaded by `listen`. */
export function lazyHost(settings: HostSettings, options: HostOptions): Host {
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

/** @throws {SettingsError} that names the packages to install */
async function loadHost() {
  try {
    const [{ createHostOf }, { createHostPieces }] = [await import('./host.js'), await import('./host-pieces.js')]
    return (settings: HostSettings, options: HostOptions) => createHostOf(settings, createHostPieces(), options)
  } catch (error) {
    throw lacksPackage(error) ? morePackages() : error
  }
}
