import { SettingsError } from '../../errors.js'
import type { TrustedProxies } from '../../lib/client-ip.js'
import type { Logger } from '../../settings.js'
import type { AccountSettingsInput } from '../../wiring/for-host.js'
import type { HostSettings } from './host-settings.js'

/** Of the host's own secrets: those that `auth` gives come first. */
type Secrets = Pick<AccountSettingsInput, 'JWT_ACCESS_TOKEN_SECRET' | 'JWT_REFRESH_TOKEN_SECRET' | 'encryptionKey'>

/** Where users of the host land; `auth.admin.page` may move it. */
const adminPage = '/auth/admin'

/**
 * What the host's own accounts are created with: the settings of `auth`, and what the host gives them itself.
 *
 * @param given `file`: the database where the settings name none. `secrets`: null when `auth` gives all of them
 */
export function accountsInput(
  { adminUrl, adminTrustedProxies, mail, auth, project, database }: HostSettings,
  given: { file: string; secrets: Secrets | null; logger: Logger },
): AccountSettingsInput {
  return {
    ...auth,
    JWT_ACCESS_TOKEN_SECRET: auth.JWT_ACCESS_TOKEN_SECRET ?? given.secrets?.JWT_ACCESS_TOKEN_SECRET,
    JWT_REFRESH_TOKEN_SECRET: auth.JWT_REFRESH_TOKEN_SECRET ?? given.secrets?.JWT_REFRESH_TOKEN_SECRET,
    encryptionKey: auth.encryptionKey ?? given.secrets?.encryptionKey,
    baseUrl: adminUrl,
    basePath: '/auth',
    database: database ?? `sqlite:${given.file}`,
    trustedProxies: writtenProxies(adminTrustedProxies),
    ...(mail !== null && { mail }),
    registration: { enabled: false, ...auth.registration },
    cookies: { ...auth.cookies, suffix: 'host' },
    brand: { name: project, ...auth.brand },
    redirectSuccessUrl: auth.redirectSuccessUrl ?? (auth.admin?.page || adminPage),
    redirectLogoutUrl: auth.redirectLogoutUrl ?? '/auth/login',
    logger: given.logger,
  }
}

/** Whether the host must make secrets for itself. */
export function lacksSecrets({ auth }: Pick<HostSettings, 'auth'>): boolean {
  return [auth.JWT_ACCESS_TOKEN_SECRET, auth.JWT_REFRESH_TOKEN_SECRET, auth.encryptionKey].includes(undefined)
}

function writtenProxies(proxies: TrustedProxies): number | readonly string[] {
  if (proxies.kind === 'none') return 0
  return proxies.kind === 'hops' ? proxies.count : proxies.cidrs
}

/** Settings that the host and its accounts have in common, by the name that the accounts use. */
const shared: Readonly<Record<string, string>> = {
  baseUrl: 'adminUrl',
  database: 'database',
  mail: 'mail',
  trustedProxies: 'trustedProxies',
}

/** A fault of the settings of the accounts, with the names that the settings of the host have. Any other error as it is. */
export function asHostFault(error: unknown): unknown {
  if (!(error instanceof SettingsError)) return error
  return new SettingsError(
    error.faults.map(({ setting, message }) => {
      const [first = '', ...rest] = setting.split('.')
      const name = shared[first] ?? (first === 'auth' ? 'auth' : `auth.${first}`)
      return { setting: [name, ...rest].join('.'), message }
    }),
  )
}

/** The store's own explanation of why it does not open, as a fault of the setting. Any other error as it is. */
export function asDatabaseFault(error: unknown): unknown {
  const [, message] = error instanceof Error ? (/^database: (.+)/.exec(error.message) ?? []) : []
  return message === undefined ? error : new SettingsError([{ setting: 'database', message }])
}
