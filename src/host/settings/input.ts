import type { Duration } from '../../lib/duration.js'
import type { MailInput } from '../../settings/input.js'
import type { SettingsInput } from '../../wiring/settings.js'
import type { Size } from './limits.js'

/**
 * What an operator writes. Durations are texts such as `'15m'`, sizes such as `'10MiB'`. Unknown names are faults. Nothing is
 * read from the environment.
 *
 * @example
 * createHost({ baseUrl: 'https://api.example.com', adminUrl: 'https://admin.example.net', mail: { from, transport } })
 */
export interface HostSettingsInput {
  /** The name that pages and the tool show. Default: `default`. */
  project?: string | undefined
  /** Where spaces are reached, `{baseUrl}/<space>/…`: https, or http on loopback. If it has a path, your proxy must strip it. Default: `http://127.0.0.1:4310`. */
  baseUrl?: string | undefined
  /** The origin of the host's pages and control API. Its host name must not be that of `baseUrl`. Default on loopback: `http://127.0.0.1:4311`; required elsewhere. */
  adminUrl?: string | undefined
  /** The spaces' socket: `address:port`, or the path of a unix socket, whose peers count as trusted proxies. Default: `127.0.0.1:4310`. */
  listen?: string | undefined
  /** The socket of `adminUrl`, like `listen`. Default: `127.0.0.1:4311`. */
  adminListen?: string | undefined
  /** The folder of everything that the host keeps. One host a folder. Default: `./latchkey-data`. */
  data?: string | undefined
  /** A `postgres:` URL that names user and database: accounts and the data of all spaces are there. Default: SQLite files in `data`. */
  database?: string | undefined
  /** How many proxies stand in front, or their IP addresses and CIDRs. Default: none. */
  trustedProxies?: number | readonly string[] | undefined
  /** How mails of the host's own accounts go out. Required unless `adminUrl` is on loopback. */
  mail?: MailInput | undefined
  /** How spaces are kept apart. `sandbox`: by bubblewrap, on Linux and not as root. `process`: by Node's permission model alone, for your own code. Default: `auto`, the sandbox where it works. */
  isolation?: 'auto' | 'sandbox' | 'process' | undefined
  /** What one space may use. */
  limits?: HostLimitsInput | undefined
  /** Where the behaviour of the codehooks platform is wanted instead of ours. */
  compat?: CompatInput | undefined
  /** Other settings of `init`, for the host's own accounts. Registration is off by default; secrets that are missing are made once. */
  auth?: HostAccountsInput | undefined
}

/** What the host gives its accounts itself is missing here. */
export type HostAccountsInput = Partial<Omit<SettingsInput, OwnAccountSetting>>

export interface CompatInput {
  /** `platform`: an error of a handler is a 200 with `fatal: true`. Default: a 500 problem. */
  errors?: 'platform' | undefined
  /** `echo`: every origin is allowed. Default: the application's own CORS. */
  cors?: 'echo' | undefined
  /** `literal`: a path with dots in an update is a name. Default: it nests. */
  dotPaths?: 'literal' | undefined
}

export interface HostLimitsInput {
  /** The largest body that is parsed. Default: `10MiB`. */
  body?: Size | undefined
  /** The largest body that is streamed. Default: `1GiB`. */
  stream?: Size | undefined
  /** How long a handler may take; of a stream, how long no byte may move. Default: `30s`. */
  request?: Duration | undefined
  /** How long a release may take until it is ready. Default: `20s`. */
  start?: Duration | undefined
  /** The headers of a request. Default: `32KiB`. */
  headers?: Size | undefined
  /** The path and query of a request. Default: `16KiB`. */
  target?: Size | undefined
  /** Requests of a space at once. Default: 512. */
  connections?: number | undefined
  /** The JavaScript heap of a space; its process may have 1.5 times as much. Default: `256MiB`. */
  memory?: Size | undefined
  /** The temporary folder of a space. Default: `256MiB`. */
  tmp?: Size | undefined
  /** Whether applications reach the network; or the names of the spaces whose applications do. Without it they have no network at all, which needs the sandbox. Default: true. */
  network?: boolean | readonly string[] | undefined
  /** The code of a release. Default: `16MiB`. */
  code?: Size | undefined
  /** The other files of a release. Default: `64MiB`. */
  assets?: Size | undefined
  /** Releases of a space that are kept. Default: 10. */
  releases?: number | undefined
  /** The log of a space. Default: `5MiB`. */
  log?: Size | undefined
  /** Environment variables of a space. Default: 100. */
  env?: number | undefined
  /** One document. Default: `4MiB`. */
  document?: Size | undefined
  /** Levels of a document. Default: 32. */
  depth?: number | undefined
  /** Indexes of a collection. Default: 64. */
  indexes?: number | undefined
  /** All data of a space. Default: `10GiB`. */
  space?: Size | undefined
}

/** Settings of `init` that the host gives its own accounts, and what to do instead. */
const own = {
  baseUrl: 'is the setting adminUrl of the host',
  basePath: 'is /auth in the host',
  baseAPIRoutes: 'has no use in the host',
  publicRoutes: 'has no use in the host',
  database: 'is the setting database of the host',
  redis: 'has no use in the host',
  mail: 'is the setting mail of the host',
  trustedProxies: 'is the setting trustedProxies of the host',
  apiTokens: 'has no use in the host: API tokens belong to spaces',
  jwks: 'has no use in the host: key sets belong to spaces',
  authenticate: 'has no use in the host',
} as const satisfies Readonly<Record<string, string>>

/** A setting of `init` that `auth` must not name. */
type OwnAccountSetting = keyof typeof own

/** A sentence for each setting of `auth` that is the host's to give. */
export function accountFaults(auth: Readonly<Record<string, unknown>>): { setting: string; message: string }[] {
  const faults = Object.entries(own).flatMap(([name, message]) =>
    auth[name] === undefined ? [] : [{ setting: `auth.${name}`, message }],
  )
  const { cookies } = auth
  const isNamed = typeof cookies === 'object' && cookies !== null && 'suffix' in cookies && cookies.suffix !== undefined
  return isNamed ? [...faults, { setting: 'auth.cookies.suffix', message: 'is host in the host' }] : faults
}
