import { SettingsError, type SettingsFault } from '../../errors.js'
import type { TrustedProxies } from '../../lib/client-ip.js'
import { isObject } from '../../lib/json-object.js'
import { faultsOf, nothing, sentenceOf } from '../../settings/field.js'
import { dotted, freeze, snapshot } from '../../settings/snapshot.js'
import { accountFaults } from './account-settings.js'
import type { HostAccountsInput } from './input.js'
import type { HostLimits } from './limits.js'
import type { ListenAddress } from './listen.js'
import { adminUrlOf, hostRules } from './rules.js'
import { type HostTable, hostSchema } from './schema.js'

/** The settings of a host after parsing: every default filled in, frozen. */
export interface HostSettings {
  project: string
  /** If it has a path, the proxy in front strips it. */
  baseUrl: string
  /** An origin. */
  adminUrl: string
  listen: ListenAddress
  adminListen: ListenAddress
  /** An absolute path. */
  data: string
  /** A `postgres:` URL, which may hold a password; null: SQLite files in `data`. */
  database: string | null
  /** Of the spaces' socket; the peer of a unix socket is one. */
  trustedProxies: TrustedProxies
  /** The same of the admin's socket. */
  adminTrustedProxies: TrustedProxies
  mail: HostTable['mail']
  isolation: HostTable['isolation']
  limits: HostLimits
  compat: Readonly<HostTable['compat']>
  /** As they were written, like `mail`: the accounts parse them. */
  auth: HostAccountsInput
}

/**
 * Reads the settings of a host: checks every rule, fills in every default, and copies.
 *
 * @throws {SettingsError} with every fault at once; names settings, never their values
 */
export function parseHostSettings(input: unknown): HostSettings {
  if (!isObject(input)) throw new SettingsError([{ setting: 'settings', message: 'must be an object' }])
  const faults: SettingsFault[] = []
  // `auth` may hold functions and loggers, which the accounts look at themselves.
  const { auth, ...rest } = input
  const { values, foreign } = snapshot(rest, faults)
  const { table, broken } = readTable({ ...values, ...(auth !== undefined && { auth }) }, faults)

  const sound = (...names: (keyof HostTable)[]) => names.every((name) => !broken.has(name))
  const fault = (setting: string, message: string) => void faults.push({ setting, message })
  for (const rule of hostRules) rule({ table, sound, fault })
  faults.push(...accountFaults({ ...table.auth }))

  const adminUrl = adminUrlOf(table)
  if (faults.length > 0 || adminUrl === null) throw new SettingsError(faults)
  return freeze(assemble(table, adminUrl), new Set([...foreign, table.auth]))
}

function readTable(values: Readonly<Record<string, unknown>>, faults: SettingsFault[]) {
  const broken = new Set<unknown>()
  const first = hostSchema.safeParse(values, { error: sentenceOf })
  if (first.success) return { table: first.data, broken }
  for (const { path, message } of first.error.issues.flatMap(faultsOf)) {
    broken.add(path[0])
    faults.push({ setting: dotted(path), message })
  }
  const rest = Object.entries(values).filter(([name]) => !broken.has(name))
  return { table: hostSchema.parse(Object.assign(nothing(), Object.fromEntries(rest))), broken }
}

function assemble(table: HostTable, adminUrl: string): HostSettings {
  const { project, baseUrl, listen, adminListen, data, database, trustedProxies, ...rest } = table
  const { mail, isolation, limits, compat, auth } = rest
  return {
    ...{ project, adminUrl, listen, adminListen, data, database, mail, isolation, limits, compat, auth },
    baseUrl: baseUrl.href.replace(/\/$/, ''),
    trustedProxies: withSocketPeer(trustedProxies, listen),
    adminTrustedProxies: withSocketPeer(trustedProxies, adminListen),
  }
}

/** A unix socket has no address, so only a proxy on this machine can be its peer. */
function withSocketPeer(proxies: TrustedProxies, listen: ListenAddress): TrustedProxies {
  if (listen.kind === 'tcp' || proxies.kind === 'hops') return proxies
  const cidrs = proxies.kind === 'none' ? [] : proxies.cidrs
  return { kind: 'cidrs', cidrs: [...new Set([...cidrs, 'unix'])] }
}
