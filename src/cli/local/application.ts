import { dirname } from 'node:path'
import type { Environment } from '../environment.js'
import { requireTrusted, statOrNull } from '../files/trusted-file.js'
import type { LocalDatabase, LocalHome } from '../home.js'
import type { LocalPlace } from '../tool.js'
import { ToolError } from '../tool-error.js'
import { loadEnvFile } from './env-file.js'
import { explained } from './explained.js'
import { createLocalHome } from './home.js'
import { loadSettings, requireLoadable } from './settings-module.js'

/** The application whose settings module was loaded. */
export interface LocalApplication {
  database: LocalDatabase
  openHome(): Promise<LocalHome>
}

/**
 * Loads the settings module of an application. Its database is not opened yet.
 *
 * @throws {ToolError} usage; `store_unavailable` from the calls, when the database cannot be reached
 * @throws {SettingsError} with every fault of the settings
 */
export async function loadApplication(environment: Environment, place: LocalPlace): Promise<LocalApplication> {
  const input = await loadInput(environment, place)
  const { readApplication } = await import('../../wiring/for-tool.js')

  const application = await explained(() => readApplication(input, environment.userName))
  const { file, url, settings } = application
  // SQLite makes files beside it, which would then belong to the wrong user.
  if (file !== null && statOrNull(file) !== null) requireTrusted(file, environment)
  const target = `local ${application.database}`
  return {
    database: {
      target,
      plan: () => explained(application.plan),
      migrate: () => explained(application.migrate),
    },
    async openHome() {
      const opened = await explained(application.open)
      return createLocalHome(opened, { target, url, adminEmails: settings.admin.emails })
    },
  }
}

/**
 * The settings as the module of an application gives them to `init`, unchecked. Loading the module runs it.
 *
 * @throws {ToolError} usage
 */
async function loadInput(environment: Environment, place: LocalPlace): Promise<unknown> {
  requireLoadable(place.config, environment)
  loadEnvFile(environment, place)
  environment.enterFolder(dirname(place.config))
  return loadSettings(place.config)
}

/**
 * The same for an examination, which reports the faults of the settings itself. Refuses a database file of another owner.
 *
 * @throws {ToolError} usage
 */
export async function loadExaminedInput(environment: Environment, place: LocalPlace): Promise<unknown> {
  const input = await loadInput(environment, place)
  const { readApplication } = await import('../../wiring/for-tool.js')
  try {
    const { file } = readApplication(input, environment.userName)
    if (file !== null && statOrNull(file) !== null) requireTrusted(file, environment)
  } catch (error) {
    if (error instanceof ToolError) throw error
  }
  return input
}
