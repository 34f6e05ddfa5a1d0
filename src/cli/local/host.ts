import { dirname } from 'node:path'
import type { Topic } from '../../model/doctor/report.js'
import type { Environment } from '../environment.js'
import type { LocalDatabase } from '../home.js'
import type { LocalHostHome } from '../host-home.js'
import type { LocalPlace } from '../tool.js'
import { ToolError } from '../tool-error.js'
import { version } from '../version.js'
import { loadEnvFile } from './env-file.js'
import { explained } from './explained.js'
import { createLocalHome } from './home.js'

/** The space host whose settings were loaded. */
export interface LocalHostApplication {
  /** The accounts' settings, for `doctor`. */
  accountsInput: unknown
  /** The host's own checks. */
  topics(): readonly Topic[]
  database: LocalDatabase
  openHome(): Promise<LocalHostHome>
}

/**
 * Loads the settings of a space host. Its database is not opened yet.
 *
 * @throws {ToolError} as the calls do
 * @throws {SettingsError} with every fault of the settings
 */
export async function loadHost(environment: Environment, place: LocalPlace): Promise<LocalHostApplication> {
  loadEnvFile(environment, place)
  environment.enterFolder(dirname(place.config))
  const { readHost } = await import('../../host/tool/open.js')
  const host = await explained(() => readHost(place.config, environment.userName))
  const target = `local ${host.database}`
  return {
    accountsInput: host.accountsInput,
    topics: host.topics,
    database: {
      target,
      plan: () => explained(host.plan),
      migrate: () => explained(host.migrate),
    },
    async openHome() {
      const { accounts, calls } = await explained(host.open)
      const url = host.adminUrl
      return {
        ...createLocalHome(accounts, { target, url, adminEmails: null }),
        ...refusedCalls(url),
        ...calls,
        describe: async () => ({ home: 'host', version: version(), url, user: null }),
      }
    },
  }
}

/** What belongs to one space is changed by the running host, which tells the processes of the space. */
function refusedCalls(adminUrl: string) {
  const refused = async (): Promise<never> => {
    const remedy = `Sign in with latchkey login ${adminUrl}, and add --url ${adminUrl}`
    throw new ToolError(4, 'not_here', `This command works on a space, through the running host. ${remedy}`)
  }
  return {
    createApiToken: refused,
    listApiTokens: refused,
    removeApiToken: refused,
    rotateApiToken: refused,
    readAccess: refused,
    checkKeySet: refused,
    setKeySet: refused,
    allowNetwork: refused,
    disallowNetwork: refused,
  }
}
