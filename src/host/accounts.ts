import { access } from 'node:fs/promises'
import { AuthError } from '../errors.js'
import type { Runtime } from '../lib/runtime.js'
import type { Logger } from '../settings.js'
import {
  type AccountSettingsInput,
  createHostAuth,
  type HostAuth,
  type HostParts,
  type HostRunning,
} from '../wiring/for-host.js'
import type { FirstStart } from './first-start.js'
import type { Folder } from './folder/folder.js'
import { openSecretsFile } from './folder/secrets-file.js'
import type { HostPieces } from './pieces.js'
import { setupRoutes } from './routes/setup.js'
import { accountsInput, asHostFault, lacksSecrets } from './settings/accounts-input.js'
import type { HostSettings } from './settings/host-settings.js'
import type { OpenSpaces } from './spaces/ground.js'

interface Accounts<Nouns> {
  auth: HostAuth
  /** What stands since `auth.ready`. */
  running(): HostRunning<Nouns>
  /** From now on the control API finds these spaces. */
  use(spaces: OpenSpaces): void
}

interface AccountsGround {
  folder: Folder
  logger: Logger
  firstStart: FirstStart
  runtime: Runtime | undefined
}

/** The accounts of the host. Their store opens with `auth.ready`. */
export async function openAccounts<Nouns>(
  settings: HostSettings,
  pieces: HostPieces<Nouns>,
  { folder, logger, firstStart, runtime }: AccountsGround,
): Promise<Accounts<Nouns>> {
  const secrets = lacksSecrets(settings)
    ? await openSecretsFile(folder.secrets, await isFirstStart(settings, folder))
    : null
  let running: HostRunning<Nouns> | null = null
  let spaces: OpenSpaces | null = null
  const input = accountsInput(settings, { file: folder.database, secrets, logger })
  const parts: HostParts<Nouns> = {
    extension: pieces.extension,
    routes: [...setupRoutes(firstStart.setup), ...pieces.routes],
    findSpace: async (name) => {
      if (spaces === null) throw new AuthError('space_not_found')
      return spaces.find(name)
    },
    createRights: pieces.createRights,
    start: async (opened) => {
      running = opened
    },
    topics: pieces.topics,
    close: pieces.close,
  }
  const auth = createAuthOf(input, parts, runtime)
  return {
    auth,
    running() {
      if (running === null) throw new TypeError('The store is not open.')
      return running
    },
    use(opened) {
      spaces = opened
    },
  }
}

/** @throws {SettingsError} with the names of the host's settings */
function createAuthOf<Nouns>(
  input: AccountSettingsInput,
  parts: HostParts<Nouns>,
  runtime: Runtime | undefined,
): HostAuth {
  try {
    return createHostAuth(input, parts, runtime)
  } catch (error) {
    throw asHostFault(error)
  }
}

/** On PostgreSQL the store says later whether its rows need secrets that are gone. */
async function isFirstStart({ database }: HostSettings, folder: Folder): Promise<boolean> {
  if (database !== null) return true
  return access(folder.database).then(
    () => false,
    () => true,
  )
}
