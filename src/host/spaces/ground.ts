import { AuthError, SettingsError } from '../../errors.js'
import type { SpacePorts } from '../../http/route.js'
import type { RandomSource } from '../../lib/random.js'
import type { World } from '../../lib/runtime.js'
import type { SpaceName } from '../../model/visitor.js'
import type { Logger } from '../../settings.js'
import { guardSpace, type HostParts, type HostRunning } from '../../wiring/for-host.js'
import { chooseIsolation } from '../children/choose-isolation.js'
import type { Isolation } from '../children/isolation.js'
import type { Premises } from '../children/start.js'
import type { DeployedCode, SpaceBackup } from '../doctor/host-checks.js'
import type { Disk } from '../folder/disk.js'
import type { Folder } from '../folder/folder.js'
import type { SpaceDirectory } from '../front/space.js'
import type { SpaceFiles } from '../ports.js'
import type { MasterKeys } from '../sealing/master-keys.js'
import type { HostSettings } from '../settings/host-settings.js'
import { openSchemas, type Schemas } from '../storage/postgres/schemas.js'
import type { RemovedTokens, SpaceNouns } from '../store/spaces.js'

/** What the spaces stand on. */
export interface SpacesGround<Nouns> {
  running: HostRunning<Nouns>
  settings: HostSettings
  folder: Folder
  masterKeys: MasterKeys
  disk: Pick<Disk, 'mayWrite'>
  world: World
  random: RandomSource
  logger: Logger
}

export interface OpenSpaces {
  directory: SpaceDirectory
  /** For the control API. */
  find: HostParts<never>['findSpace']
  /** Names of the spaces that are down because they crashed too often. */
  crashed(): Promise<readonly string[]>
  /** How applications are kept apart. */
  isolation: Pick<Isolation, 'mode' | 'absent'>
  deployed(): Promise<readonly DeployedCode[]>
  backups(): Promise<readonly SpaceBackup[]>
  /** Ends the processes of all spaces; their running requests are answered by then. */
  close(): Promise<void>
}

/**
 * The schemas of spaces; null where their data is in files.
 *
 * @throws {SettingsError} `database`, when it can hold no spaces
 */
export async function openOwnSchemas({ database }: Pick<HostSettings, 'database'>): Promise<Schemas | null> {
  if (database === null) return null
  const schemas = openSchemas(database)
  const message = await schemas.fault()
  if (message === null) return schemas
  await schemas.close()
  throw new SettingsError([{ setting: 'database', message }])
}

/** Removes the schemas of a space with its files. */
export function withSchemas(files: SpaceFiles, schemas: Schemas | null): SpaceFiles {
  if (schemas === null) return files
  return {
    ...files,
    async remove(spaceId) {
      await schemas.remove(spaceId)
      await files.remove(spaceId)
    },
  }
}

type GuardedSpace = ReturnType<typeof guardSpace>

/** The guards of spaces: one for each space that was asked for. */
export interface SpaceGuards {
  of(space: SpaceName): GuardedSpace
  /** The space is gone. Its requests must have ended. */
  remove(spaceId: string): Promise<void>
  close(): Promise<void>
}

export function createSpaceGuards<Nouns>(
  running: HostRunning<Nouns>,
  { baseUrl, trustedProxies }: Pick<HostSettings, 'baseUrl' | 'trustedProxies'>,
): SpaceGuards {
  const guards = new Map<string, GuardedSpace>()
  const { origin } = new URL(baseUrl)
  return {
    of(space) {
      const known = guards.get(space.id)
      if (known) return known
      const made = guardSpace(running, { space, origin, trustedProxies })
      guards.set(space.id, made)
      return made
    },
    async remove(spaceId) {
      const known = guards.get(spaceId)
      guards.delete(spaceId)
      await known?.close()
    },
    async close() {
      await Promise.all([...guards.values()].map((guard) => guard.close()))
      guards.clear()
    },
  }
}

type ApiTokens = SpacePorts['apiTokens']

/** As `RandomSource.id` makes them. Other texts name no token, and would only fill the table. */
const tokenId = /^[\w-]{22}$/

/** The API tokens of a space, of which those that are removed or replaced are noted before they go: no backup brings them back. */
export function rememberedTokens(apiTokens: ApiTokens, removedTokens: RemovedTokens, spaceId: string): ApiTokens {
  const note = async (id: string) => {
    if (tokenId.test(id)) await removedTokens.add(spaceId, id)
  }
  return {
    ...apiTokens,
    async remove(id, step) {
      await note(id)
      return apiTokens.remove(id, step)
    },
    async rotate(replacement, step) {
      await note(replacement.id)
      return apiTokens.rotate(replacement, step)
    },
  }
}

type Ground = Pick<SpacesGround<SpaceNouns>, 'settings' | 'folder' | 'logger' | 'running'>

/**
 * How this host keeps applications apart. Once the sandbox has worked, a host without it does not start by itself.
 *
 * @throws {SettingsError} as `chooseIsolation` does; `isolation` when the store cannot note that the sandbox works
 */
export async function openIsolation(
  { settings, folder, logger, running }: Ground,
  premises: Omit<Premises, 'isolation'>,
): Promise<Isolation> {
  const { isolation: wanted, limits } = settings
  const { sandboxMark } = running.nouns
  const hasWorked = await sandboxMark.isSet()
  const asked = { wanted, data: folder.path, isNetworkForAll: limits.network === true, premises, hasWorked }
  const chosen = await chooseIsolation(asked)
  if (chosen.mode === 'sandbox' && !hasWorked) {
    await sandboxMark.set(running.clock.now()).catch((error: unknown) => {
      throw unmarked(error)
    })
  }
  if (chosen.absent !== null) {
    const fields = { event: 'sandbox_absent', ...chosen.absent }
    logger.warn(fields, 'Applications run without a sandbox: their code can reach other spaces and this host.')
  }
  return chosen
}

/** Without the note, a later start could be weaker by itself. */
function unmarked(error: unknown): SettingsError {
  const cause = error instanceof AuthError ? error.details.cause : error
  const reason = cause instanceof Error ? cause.message.split('\n')[0] : 'for an unknown reason'
  const message = `works as a sandbox, which the store could not note: ${reason}. See that it can be written, and that its disk has room`
  return new SettingsError([{ setting: 'isolation', message }])
}
