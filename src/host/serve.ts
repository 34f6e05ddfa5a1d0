import { dirname, resolve } from 'node:path'
import { realTimer, within } from '../lib/runtime.js'
import { createConsoleLogger } from '../settings/logger.js'
import type { Logger } from '../settings.js'
import { lazyHost } from './lazy-host.js'
import { ignoreDebugger } from './runner/ignore-debugger.js'
import { readConfig } from './settings/config-file.js'
import { type HostSettings, parseHostSettings } from './settings/host-settings.js'
import type { StopTimes } from './sockets/stop.js'

export { isMorePackages } from './spaces/programs.js'

export interface ServeOptions {
  /**
   * Path of the settings file. Relative paths in it count from its folder. null: looks for `latchkey.host.json`, `.js` or `.mjs`
   * in this folder.
   */
  config: string | null
  masterKeyFile: string | null
  /** Default: 5 s until no new requests are taken, 30 s for running ones. */
  stopTimes?: StopTimes
}

/** Only the owner may read what this process writes. */
const privateMask = 0o077

/** How long a host whose state is unknown may take to end. */
const failedCloseMs = 10_000

/**
 * The work of `latchkey serve`: runs a host until SIGTERM or SIGINT. A second signal ends the process at once.
 *
 * After an uncaught exception the state of the process is unknown, so the host ends, for a supervisor such as systemd to start
 * it again.
 *
 * @returns whether the host ended as it was asked to; false after an uncaught exception
 * @throws {SettingsError} when the host cannot start
 */
export async function serve({ config, masterKeyFile, stopTimes }: ServeOptions): Promise<boolean> {
  ignoreDebugger()
  process.umask(privateMask)
  const masterKey = takeMasterKey()
  const logger: { current: Logger } = { current: createConsoleLogger() }
  const ended = Promise.race([endSignal(), uncaughtFault(logger)])
  const keyFile = masterKeyFile === null ? undefined : resolve(masterKeyFile)
  const read = await readConfig(config)
  // Relative paths in the settings count from their folder, as for the command-line tool.
  if (config !== null) process.chdir(dirname(resolve(config)))
  const settings = parseHostSettings(read)
  logger.current = settings.auth.logger ?? logger.current
  const host = lazyHost(settings, {
    masterKey,
    stopTimes,
    masterKeyFile: keyFile,
    show: process.stdout.isTTY ? (text) => void process.stdout.write(text) : undefined,
  })
  let ending = false
  const closed = ended.then(async (end) => {
    ending = true
    if (end === 'signal') await host.close()
    else await within(realTimer, failedCloseMs, host.close()).catch(() => {})
    return end === 'signal'
  })
  // A start that never settles must not keep a failed host.
  await Promise.race([host.listen(), closed])
  if (!ending) process.stdout.write(banner(settings))
  return closed
}

/** Nothing that this process starts or loads later finds the key in the environment. */
function takeMasterKey(): string | undefined {
  const { LATCHKEY_MASTER_KEY } = process.env
  delete process.env.LATCHKEY_MASTER_KEY
  return LATCHKEY_MASTER_KEY
}

function endSignal(): Promise<'signal'> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve('signal'))
  })
}

/** An error may hold a secret in its message, so the log gets its name and the place in the code. */
function uncaughtFault(logger: { current: Logger }): Promise<'fault'> {
  return new Promise((resolve) => {
    // Rejections that no code handles come here too.
    process.on('uncaughtException', (error: unknown) => {
      const fields = { event: 'host_failed', reason: nameOf(error), at: placeOf(error) }
      logger.current.error(fields, 'The host ends after an error that no code handled.')
      resolve('fault')
    })
  })
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}

/** The topmost function of the stack, which follows the message. */
function placeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const { message, stack = '' } = error
  const frames = stack.slice(stack.indexOf(message) + message.length)
  return /^ {4}at (.+)$/m.exec(frames)?.[1] ?? null
}

function banner({ project, baseUrl, adminUrl }: HostSettings): string {
  return `Project ${project} is served at ${baseUrl}, and administered at ${adminUrl}/auth/admin\n`
}
