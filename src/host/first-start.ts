import { rm } from 'node:fs/promises'
import { AuthError } from '../errors.js'
import type { RandomSource } from '../lib/random.js'
import type { World } from '../lib/runtime.js'
import type { Logger } from '../settings.js'
import type { Setup } from './flows/people/first-admin.js'
import type { Folder } from './folder/folder.js'
import { createSetupKey, type SetupKey } from './folder/secrets-file.js'
import type { FirstAdmin } from './store/people.js'

/** The set-up of the first administrator. Its routes exist before the store is open, and refuse until then. */
export interface FirstStart {
  setup: Setup
  /** Called when the store is open. Makes a key if there is no administrator. */
  begin(firstAdmin: FirstAdmin, given: FirstStartOptions): Promise<void>
  /** Removes the key. */
  end(): Promise<void>
}

export interface FirstStartOptions {
  folder: Pick<Folder, 'setupUrl'>
  adminUrl: string
  random: Pick<RandomSource, 'token'>
  monotonic: World['monotonic']
  logger: Logger
  /** Shows a text on the operator's terminal. Null: the output is no terminal, so it may be kept in logs and must not get the key. */
  show: ((text: string) => void) | null
}

export function createFirstStart(): FirstStart {
  let firstAdmin: FirstAdmin | null = null
  let key: SetupKey | null = null

  const opened = (): FirstAdmin => {
    if (firstAdmin === null) throw new AuthError('store_unavailable')
    return firstAdmin
  }
  const end = async () => {
    await key?.remove()
    key = null
  }
  return {
    setup: {
      firstAdmin: {
        exists: async () => opened().exists(),
        create: async (user, audit) => opened().create(user, audit),
      },
      accepts: (given) => key?.accepts(given) ?? false,
      finished: end,
    },
    async begin(port, { folder, adminUrl, logger, show, ...sources }) {
      firstAdmin = port
      await rm(folder.setupUrl, { force: true })
      if (await port.exists()) return
      key = await createSetupKey(folder.setupUrl, adminUrl, sources)
      const fields = { event: 'setup_waits', file: folder.setupUrl }
      logger.warn(fields, 'There is no administrator yet. Open the address in this file within an hour.')
      show?.(`Create the first administrator: ${key.url}\n`)
    },
    end,
  }
}
