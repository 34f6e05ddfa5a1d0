// First, so that SIGUSR1 opens no inspector while the rest loads.
import './runner/ignore-debugger.js'
import { createHostOf } from './host.js'
import { createHostPieces } from './host-pieces.js'
import { readConfig } from './settings/config-file.js'
import { type HostSettings, parseHostSettings } from './settings/host-settings.js'
import type { StopTimes } from './sockets/stop.js'

export interface ServeOptions {
  /** Of the file with the settings. null: `latchkey.host.json`, `.js` or `.mjs` in this folder, if there is one. */
  config: string | null
  masterKeyFile: string | null
  /** Default: 5 s until no new requests are taken, 30 s for running ones. */
  stopTimes?: StopTimes
}

/** Only the owner may read what this process writes. */
const privateMask = 0o077

/**
 * The work of `latchkey serve`: runs a host until SIGTERM or SIGINT. A second signal ends the process at once.
 *
 * @throws {SettingsError} when the host cannot start
 */
export async function serve({ config, masterKeyFile, stopTimes }: ServeOptions): Promise<void> {
  process.umask(privateMask)
  const masterKey = takeMasterKey()
  const ended = endSignal()
  const settings = parseHostSettings(await readConfig(config))
  const host = createHostOf(settings, createHostPieces(), {
    masterKey,
    stopTimes,
    masterKeyFile: masterKeyFile ?? undefined,
    show: process.stdout.isTTY ? (text) => void process.stdout.write(text) : undefined,
  })
  const closed = ended.then(() => host.close())
  await host.listen()
  process.stdout.write(banner(settings))
  await closed
}

/** Nothing that this process starts or loads later finds the key in the environment. */
function takeMasterKey(): string | undefined {
  const { LATCHKEY_MASTER_KEY } = process.env
  delete process.env.LATCHKEY_MASTER_KEY
  return LATCHKEY_MASTER_KEY
}

function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve())
  })
}

function banner({ project, baseUrl, adminUrl }: HostSettings): string {
  return `Project ${project} is served at ${baseUrl}, and administered at ${adminUrl}/auth/admin\n`
}
