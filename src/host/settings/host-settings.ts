import { join, resolve } from 'node:path'
import { z } from 'zod'
import { SettingsError, type SettingsFault } from '../../errors.js'
import type { TrustedProxies } from '../../lib/client-ip.js'
import { isObject } from '../../lib/json-object.js'
import { isLoopbackHost, isSecureUrl, parseOrigin, sameOrigins } from '../../lib/url.js'
import { baseUrl } from '../../settings/addresses.js'
import { faultsOf, foreign, nothing, orNull, sentenceOf, shortText, text } from '../../settings/field.js'
import type { MailInput } from '../../settings/input.js'
import { mail } from '../../settings/mail.js'
import { trustedProxies } from '../../settings/schema.js'
import { dotted, freeze, snapshot } from '../../settings/snapshot.js'
import type { HostAccountsInput } from './input.js'
import { accountFaults } from './input.js'
import { type HostLimits, hostLimits, isSamePlace, type ListenAddress, listenAddress } from './limits.js'

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

const adminUrl = text(
  'must be an origin such as https://admin.example.com: https (http on loopback), without a path',
  (value) => {
    const origin = parseOrigin(value)
    return origin !== null && isSecureUrl(new URL(origin)) ? origin : null
  },
)

const folder = text('must be the path of a folder', (value) =>
  value === '' || /\p{Cc}/u.test(value) ? null : resolve(value),
)

const isolation = z.enum(['auto', 'sandbox', 'process'])

const database = text(
  'must be a postgres: URL that names a user and a database, such as postgres://latchkey@db.example/latchkey. Without it everything is in SQLite files in the folder data',
  (value) => (isPostgresUrl(value) ? value : null),
)

/** The user too: the threads that read the data of spaces see no environment. */
function isPostgresUrl(text: string): boolean {
  if (!/^postgres(?:ql)?:\/\/\P{Cc}+$/u.test(text) || !URL.canParse(text)) return false
  const { username, pathname } = new URL(text)
  return username !== '' && pathname.length > 1
}

/** The accounts parse it; here it is only looked at. */
const accounts = foreign<HostAccountsInput>('must be an object', isObject)

/** Kept as it was written, because the accounts parse it again. */
const writtenMail = foreign<MailInput>('must be an object', isObject).superRefine((value, context) => {
  for (const issue of mail.safeParse(value, { error: sentenceOf }).error?.issues ?? []) context.addIssue({ ...issue })
})

/** The table of settings. Rules over several of them are in `rules.ts`. */
export const hostSchema = z.strictObject({
  project: shortText(64).prefault('default'),
  baseUrl: baseUrl.prefault('http://127.0.0.1:4310'),
  adminUrl: orNull(adminUrl),
  listen: listenAddress.prefault('127.0.0.1:4310'),
  adminListen: listenAddress.prefault('127.0.0.1:4311'),
  data: folder.prefault('./latchkey-data'),
  database: orNull(database),
  trustedProxies: trustedProxies.prefault(0),
  mail: orNull(writtenMail),
  isolation: isolation.prefault('auto'),
  limits: hostLimits,
  compat: z
    .strictObject({
      errors: z.literal('platform').optional(),
      cors: z.literal('echo').optional(),
      dotPaths: z.literal('literal').optional(),
    })
    .prefault(nothing)
    .transform(({ errors, cors, dotPaths }) => ({
      errors: errors ?? ('problem' as const),
      cors: cors ?? ('own' as const),
      dotPaths: dotPaths ?? ('nested' as const),
    })),
  auth: accounts.prefault(nothing),
})

type HostTable = z.output<typeof hostSchema>

interface Seen {
  table: HostTable
  /** True when none of these settings has a fault of its own. */
  sound(...names: (keyof HostTable)[]): boolean
  fault(setting: string, message: string): void
}

/** Rules over several settings. */
const hostRules: readonly ((seen: Seen) => void)[] = [adminIsApart, placesDiffer, socketNamesFit]

const loopbackAdminUrl = 'http://127.0.0.1:4311'

/** The origin of the host's pages. null: it must be given. */
function adminUrlOf({ adminUrl, baseUrl }: Pick<HostTable, 'adminUrl' | 'baseUrl'>): string | null {
  return adminUrl ?? (isLoopbackHost(baseUrl.hostname) ? loopbackAdminUrl : null)
}

/** Cookies know no ports, so pages of a space on the same host name would share them with the host's pages. */
function adminIsApart({ table, sound, fault }: Seen): void {
  if (!sound('baseUrl', 'adminUrl')) return
  const written = adminUrlOf(table)
  if (written === null) {
    fault('adminUrl', 'is required when baseUrl is not on loopback. Give it a host name of its own')
    return
  }
  const admin = new URL(written)
  const isAtHome = isLoopbackHost(admin.hostname) && isLoopbackHost(table.baseUrl.hostname)
  if (!isAtHome && admin.hostname === table.baseUrl.hostname) {
    fault('adminUrl', 'must have another host name than baseUrl: cookies know no ports')
  } else if (sameOrigins(table.baseUrl.origin).some((origin) => sameOrigins(admin.origin).includes(origin))) {
    fault('adminUrl', 'must have another port than baseUrl')
  }
}

function placesDiffer({ table, sound, fault }: Seen): void {
  if (!sound('listen', 'adminListen')) return
  if (isSamePlace(table.listen, table.adminListen)) fault('adminListen', 'must be another place than listen')
}

/** As in `openRunFolder`: Node cuts longer names silently, so two spaces would share a socket. */
const longestSocketBytes = 103
const socketNameLength = 'x'.repeat(22).concat('.sock')

function socketNamesFit({ table, sound, fault }: Seen): void {
  if (!sound('data')) return
  const bytes = Buffer.byteLength(join(table.data, 'run', socketNameLength))
  if (bytes <= longestSocketBytes) return
  fault('data', `makes names of sockets with ${bytes} bytes, and ${longestSocketBytes} are allowed. Use a shorter path`)
}
