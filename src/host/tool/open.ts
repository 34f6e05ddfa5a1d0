import type { Topic } from '../../model/doctor/report.js'
import { visitorWithoutRequest } from '../../model/visitor.js'
import type { AccountSettingsInput } from '../../wiring/for-host.js'
import { type OpenToolApplication, readHostAccounts, type ToolApplication } from '../../wiring/for-tool.js'
import { folderChecks } from '../doctor/host-checks.js'
import { type Folder, folderAt, requireFolder } from '../folder/folder.js'
import { openSecretsFile } from '../folder/secrets-file.js'
import { accountsInput, asHostFault, lacksSecrets } from '../settings/accounts-input.js'
import { readConfig } from '../settings/config-file.js'
import { type HostSettings, parseHostSettings } from '../settings/host-settings.js'
import type { HostNouns } from '../store/host-nouns.js'
import { hostExtension } from '../store/sql/host-extension.js'
import { bindHostCalls, type HostToolCalls } from './calls.js'

/** A space host as the command-line tool finds it in its folder. Its database is not open yet. */
export interface ToolHost {
  /** What its accounts are created with, for an examination. */
  accountsInput: AccountSettingsInput
  /** Of the pages and the control API. */
  adminUrl: string
  /** The absolute path of `host.db`, or a URL without password and parameters. */
  database: string
  /** What `doctor` examines besides the accounts. */
  topics(): readonly Topic[]
  plan: ToolApplication['plan']
  migrate: ToolApplication['migrate']
  /** Opens the database beside a running host, whose lock of the folder is not needed. Nothing is created or migrated. */
  open(): Promise<OpenToolHost>
}

export interface OpenToolHost {
  accounts: OpenToolApplication<HostNouns>
  calls: HostToolCalls
}

/**
 * Reads the settings of a host as `latchkey serve` does. It makes no file, and runs no application, timer or HTTP.
 *
 * @param config the path of the settings
 * @param osUser the name of the operating system's user, for the audit log
 * @throws {SettingsError} with every fault at once; `data` when no host has run in the folder, or as another user
 */
export async function readHost(config: string, osUser: string): Promise<ToolHost> {
  const settings = parseHostSettings(await readConfig(config))
  const folder = folderAt(settings.data)
  await requireFolder(settings.database === null ? folder : { path: folder.path })
  const input = await readInput(settings, folder)
  const accounts = readAccounts(input, osUser)
  return {
    accountsInput: input,
    adminUrl: settings.adminUrl,
    database: settings.database === null ? folder.database : accounts.database,
    topics: () => [folderChecks({ settings, folder }, 'L')],
    plan: accounts.plan,
    migrate: accounts.migrate,
    async open() {
      const opened = await accounts.open()
      const visitor = visitorWithoutRequest({ kind: 'tool', osUser })
      return { accounts: opened, calls: bindHostCalls({ ...opened.ports, ...opened.nouns }, { folder, visitor }) }
    },
  }
}

async function readInput(settings: HostSettings, folder: Folder): Promise<AccountSettingsInput> {
  const secrets = lacksSecrets(settings) ? await openSecretsFile(folder.secrets, false) : null
  return accountsInput(settings, { file: folder.database, secrets, logger: silent })
}

function readAccounts(input: AccountSettingsInput, osUser: string): ToolApplication<HostNouns> {
  try {
    return readHostAccounts(input, osUser, hostExtension)
  } catch (error) {
    throw asHostFault(error)
  }
}

/** Commands print their own results, so the log stays empty. */
const silent = { warn() {}, error() {} }
