import { createRandom } from '../lib/random.js'
import { createWorld, nowSeconds } from '../lib/runtime.js'
import { createConsoleLogger } from '../settings/logger.js'
import type { Logger } from '../settings.js'
import { openAccounts } from './accounts.js'
import { createFirstStart } from './first-start.js'
import { watchDisk } from './folder/disk.js'
import { type Folder, folderAt, lockFolder, prepareFolder } from './folder/folder.js'
import type { Host, HostOptions } from './host-options.js'
import type { HostPieces } from './pieces.js'
import { openMasterKeys } from './sealing/master-key-source.js'
import { type MasterKeys, masterKeyFault } from './sealing/master-keys.js'
import { asDatabaseFault } from './settings/accounts-input.js'
import type { HostSettings } from './settings/host-settings.js'
import { openSockets } from './sockets/open.js'

/** What must be undone, in the order in which it was done. */
type Undo = (() => unknown)[]

/** A host of these pieces. */
export function createHostOf<Nouns>(
  settings: HostSettings,
  pieces: HostPieces<Nouns>,
  options: HostOptions = {},
): Host {
  const undo: Undo = []
  let listening: Promise<void> | null = null
  let closing: Promise<void> | null = null

  async function closeAll(): Promise<void> {
    await listening?.catch(() => {})
    await undoAll(undo)
  }

  return {
    listen() {
      if (listening !== null || closing !== null) return Promise.reject(new TypeError('A host listens once.'))
      listening = start(settings, pieces, options, undo).catch(async (error: unknown) => {
        // The fault of the start says what to mend.
        await undoAll(undo).catch(() => {})
        throw error
      })
      return listening
    },
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

/** A step that fails does not keep the ones before it open. Throws the first fault at the end. */
async function undoAll(undo: Undo): Promise<void> {
  const faults: unknown[] = []
  for (let last = undo.pop(); last !== undefined; last = undo.pop()) {
    try {
      await last()
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
}

async function start<Nouns>(
  settings: HostSettings,
  pieces: HostPieces<Nouns>,
  options: HostOptions,
  undo: Undo,
): Promise<void> {
  const world = createWorld(options.runtime)
  const random = createRandom()
  const logger = settings.auth.logger ?? createConsoleLogger()
  requireGivenKey(settings, options)
  const folder = folderAt(settings.data)
  await prepareFolder(folder)
  const lock = await lockFolder(folder, nowSeconds(world))
  undo.push(() => lock.release())
  const disk = await watchDisk({ path: folder.path, timer: world.timer, logger })
  undo.push(() => disk.close())

  const firstStart = createFirstStart()
  const accounts = await openAccounts(settings, pieces, { folder, logger, firstStart, runtime: options.runtime })
  undo.push(() => accounts.auth.close())
  await accounts.auth.ready().catch((error: unknown) => {
    throw asDatabaseFault(error)
  })

  const running = accounts.running()
  const masterKeys = await openKeys(folder, options, await pieces.wrappingKeys(running.nouns), logger)
  const spaces = await pieces.openSpaces({ running, settings, folder, masterKeys, disk, world, random, logger })
  undo.push(() => spaces.close())
  accounts.use(spaces)

  const { monotonic, timer } = world
  const { adminUrl } = settings
  const show = options.show ?? null
  await firstStart.begin(pieces.firstAdmin(running.nouns), { folder, adminUrl, random, monotonic, logger, show })
  undo.push(() => firstStart.end())
  const { handle } = accounts.auth
  const { stopTimes } = options
  const sockets = await openSockets({ settings, spaces: spaces.directory, handle, timer, logger, stopTimes })
  undo.push(() => sockets.stop())
}

/**
 * A key of this folder would be lost with the machine, while the sealed environment stays in the database.
 *
 * @throws {SettingsError} `masterKey`
 */
function requireGivenKey({ database }: HostSettings, { masterKey, masterKeyFile }: HostOptions): void {
  if (database === null || masterKey !== undefined || masterKeyFile !== undefined) return
  throw masterKeyFault(
    'With a PostgreSQL database it must be given: set LATCHKEY_MASTER_KEY or --master-key-file. Make one with: openssl rand -base64 32',
  )
}

/** @throws {SettingsError} `masterKey` */
async function openKeys(
  folder: Folder,
  { masterKey, masterKeyFile }: HostOptions,
  stored: readonly string[],
  logger: Logger,
): Promise<MasterKeys> {
  const source = { given: masterKey ?? null, file: masterKeyFile ?? null, own: folder.masterKey }
  const { keys, made } = await openMasterKeys(source, stored)
  if (made) {
    const fields = { event: 'master_key_made', file: folder.masterKey }
    logger.warn(fields, 'A master key was made. Keep a copy elsewhere: no backup opens without it.')
  }
  return keys
}
