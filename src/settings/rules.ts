import { safeRedirect } from '../lib/url.js'
import { controlPath } from '../model/control-path.js'
import { formFieldsOf } from './form-fields.js'
import { keySetUrlFault } from './jwks.js'
import { isAddress, isBelow, isSharedDomain, passkeysOf, relatedSites } from './passkey-site.js'
import { isWithin, ownSegments } from './paths.js'
import type { Table } from './schema.js'
import type { Site } from './site.js'

/** The input of the rules. */
export interface Seen {
  table: Table
  site: Site | null
  testing: boolean
  /** True when none of these settings has a fault of its own: only then can they be compared. */
  sound(...names: (keyof Table)[]): boolean
  fault(setting: string, message: string): void
}

/** Rules over several settings, or over a setting and where the application runs. */
export const rules: readonly ((seen: Seen) => void)[] = [
  secretsDiffer,
  guardedPrefixes,
  openPaths,
  redirects,
  cookieReach,
  cookieSafety,
  databaseIsThere,
  mailIsThere,
  registrationFields,
  lifetimes,
  knownClients,
  keySet,
  adminPage,
  passkeySite,
  nothingSwitchedOff,
]

const secretMissing = 'is required; make one with: openssl rand -base64 32'

function secretsDiffer({ table, sound, fault }: Seen): void {
  const access = table.JWT_ACCESS_TOKEN_SECRET
  const refresh = table.JWT_REFRESH_TOKEN_SECRET
  if (!access && sound('JWT_ACCESS_TOKEN_SECRET')) fault('JWT_ACCESS_TOKEN_SECRET', secretMissing)
  if (!refresh && sound('JWT_REFRESH_TOKEN_SECRET')) fault('JWT_REFRESH_TOKEN_SECRET', secretMissing)
  if (access?.some((secret) => refresh?.includes(secret))) {
    fault('JWT_REFRESH_TOKEN_SECRET', 'must differ from JWT_ACCESS_TOKEN_SECRET, and no member of one be in the other')
  }
}

function guardedPrefixes({ table, sound, fault }: Seen): void {
  if (!sound('baseAPIRoutes', 'basePath')) return
  const { basePath } = table
  const collides = (prefix: string) => prefix !== '/' && (isWithin(prefix, basePath) || isWithin(basePath, prefix))
  if (table.baseAPIRoutes.some(collides)) {
    fault('baseAPIRoutes', 'must not be equal to, above or below basePath; only / may cover it')
  }
}

function openPaths({ table, sound, fault }: Seen): void {
  if (!sound('baseAPIRoutes', 'publicRoutes')) return
  for (const [index, route] of table.publicRoutes.entries()) {
    const opened = route.endsWith('/*') ? route.slice(0, -2) : null
    if (opened !== null && table.baseAPIRoutes.some((prefix) => isWithin(prefix, opened))) {
      fault(
        `publicRoutes.${index}`,
        'opens the whole of a guarded prefix; take the prefix out of baseAPIRoutes instead',
      )
    }
  }
}

function redirects({ table, site, sound, fault }: Seen): void {
  for (const name of ['redirectSuccessUrl', 'redirectFailUrl', 'redirectLogoutUrl'] as const) {
    const target = table[name]
    if (target === null || !sound(name)) continue
    if (!target.startsWith('/') && !sound('trustedOrigins')) continue
    if (safeRedirect(target, site?.origin ?? 'https://site.invalid', table.trustedOrigins) === null) {
      fault(name, 'must be a path of this origin that begins with one slash, or a URL of one of trustedOrigins')
    }
  }
}

const notYours = 'must be your own domain: anybody can have a host below this one'

function cookieReach({ table, site, sound, fault }: Seen): void {
  if (!sound('cookies')) return
  const { sameSite, domain } = table.cookies
  if (sameSite === 'none' && sound('trustedOrigins') && table.trustedOrigins.length === 0) {
    fault('cookies.sameSite', 'none needs trustedOrigins: without them no other site may use the cookies')
  }
  if (domain !== null && site && site.hostname !== domain && !site.hostname.endsWith(`.${domain}`)) {
    fault('cookies.domain', 'must be the host of baseUrl or a domain above it')
  } else if (domain !== null && site && isSharedDomain(domain, site.hostname)) {
    fault('cookies.domain', `${notYours}, so browsers refuse its cookies`)
  }
}

function cookieSafety({ table, site, sound, fault }: Seen): void {
  if (!sound('cookies')) return
  const { sameSite, secure, partitioned } = table.cookies
  if (secure === false && sameSite === 'none') fault('cookies.secure', 'cannot be false with sameSite none')
  else if (secure === false && site && !site.development) fault('cookies.secure', 'can be false on http loopback only')
  const isSecure = secure ?? (sameSite === 'none' || !site?.development)
  if (partitioned && !isSecure) fault('cookies.partitioned', 'needs secure cookies')
}

/** An environment variable that is not set must not lead to a new, empty database. */
function databaseIsThere({ table, site, sound, fault }: Seen): void {
  if (!site || site.development || table.database || !sound('database')) return
  fault(
    'database',
    'is required when baseUrl is not loopback. Set it to a postgres: or mysql: URL, or to sqlite:/absolute/path',
  )
}

function mailIsThere({ table, site, sound, fault }: Seen): void {
  if (!site || site.development || table.mail || !sound('mail')) return
  fault('mail', 'is required unless baseUrl is http on loopback')
}

/** Our register page must be able to ask for everything that the schema requires. */
function registrationFields({ table, sound, fault }: Seen): void {
  if (!sound('registration') || !table.registration.enabled) return
  for (const message of formFieldsOf(table.registration.fields).faults) fault('registration.fields', message)
}

function lifetimes({ table, testing, sound, fault }: Seen): void {
  const pairs = [
    ['accessTokenLifetime', 'JWT_ACCESS_TOKEN_SECRET_EXPIRE'],
    ['refreshTokenLifetime', 'JWT_REFRESH_TOKEN_SECRET_EXPIRE'],
  ] as const
  for (const [name, alias] of pairs) {
    const both = table[name] !== null && table[alias] !== null
    if (both && table[name] !== table[alias])
      fault(alias, `differs from ${name}, for which it is another name; give one`)
  }
  if (!sound('accessTokenLifetime', 'JWT_ACCESS_TOKEN_SECRET_EXPIRE')) return
  const { access, refresh, session } = lifetimesOf(table)
  const accessName = table.accessTokenLifetime === null ? 'JWT_ACCESS_TOKEN_SECRET_EXPIRE' : 'accessTokenLifetime'
  if (access < 60 && !testing) fault(accessName, 'must be at least 1m: clocks of two machines differ')
  if (!sound('refreshTokenLifetime', 'JWT_REFRESH_TOKEN_SECRET_EXPIRE')) return
  if (refresh <= access) fault('refreshTokenLifetime', 'must be longer than accessTokenLifetime')
  if (sound('sessionLifetime') && session < refresh) {
    fault('sessionLifetime', 'must not be shorter than refreshTokenLifetime')
  }
}

/** In seconds. If only one of the refresh token's and the session's lifetime is set, the other one adapts to it. */
export function lifetimesOf(table: Table): { access: number; refresh: number; session: number } {
  const day = 86_400
  const access = table.accessTokenLifetime ?? table.JWT_ACCESS_TOKEN_SECRET_EXPIRE ?? 900
  const givenRefresh = table.refreshTokenLifetime ?? table.JWT_REFRESH_TOKEN_SECRET_EXPIRE
  const refresh = givenRefresh ?? Math.min(30 * day, table.sessionLifetime ?? 30 * day)
  return { access, refresh, session: table.sessionLifetime ?? Math.max(90 * day, refresh) }
}

function knownClients({ table, sound, fault }: Seen): void {
  if (!sound('trustedProxies', 'allowList')) return
  if (table.trustedProxies.kind === 'hops' && table.allowList.length > 0) {
    fault('trustedProxies', 'must be CIDRs when there is an allowList: a count cannot tell who sent the header')
  }
}

function keySet({ table, site, fault }: Seen): void {
  if (!table.jwks) return
  const { url, audience, allowPrivate } = table.jwks
  // If baseUrl has a fault, it is unknown whether this is development. The rule runs again once baseUrl is corrected.
  const reach = { allowPrivate, allowLoopback: site?.development ?? true }
  const found = keySetUrlFault(url, { audience: audience ?? [], reach })
  if (found !== null) fault(`jwks.${found.part}`, found.message)
}

/** The pages and the API of administrators share `basePath`, and with it the cookies and the limits of our own routes. */
function adminPage({ table, sound, fault }: Seen): void {
  if (!sound('admin', 'basePath')) return
  const page = adminPageOf(table)
  if (page === null) return
  if (!isWithin(page, table.basePath) || isWithin(table.basePath, page)) {
    fault('admin.page', 'must be a path below basePath, such as /auth/admin, or false')
  } else if (isWithin(page, `${table.basePath}${controlPath}`)) {
    fault('admin.page', 'must not be the path of the control API (admin/api below basePath) or below it')
  } else if (ownSegments.some((segment) => isWithin(page, `${table.basePath}/${segment}`))) {
    fault('admin.page', 'must not be the path of another page or route of Latchkey, or below it')
  }
}

/** Null: there are no admin pages. */
export function adminPageOf({ admin, basePath }: Pick<Table, 'admin' | 'basePath'>): string | null {
  return admin.page === undefined ? `${basePath}/admin` : admin.page
}

function passkeySite({ table, site, sound, fault }: Seen): void {
  if (!site || !sound('passkeys', 'cookies', 'trustedOrigins')) return
  const { rpId } = table.passkeys
  if (rpId !== null && !isAddress(site) && !isBelow(site.hostname, rpId)) {
    fault('passkeys.rpId', 'must be the host of baseUrl or a domain above it')
  } else if (rpId !== null && isSharedDomain(rpId, site.hostname)) {
    fault('passkeys.rpId', `${notYours}, so browsers make no passkeys for it`)
  } else if (relatedSites(passkeysOf(table, site)) > 5) {
    fault('passkeys.origins', 'must not name more than five other sites, because browsers accept no more')
  }
}

function nothingSwitchedOff({ table, testing, sound, fault }: Seen): void {
  if (testing) return
  if (sound('limits') && table.limits === null) {
    fault('limits', 'cannot be switched off unless the runtime comes from latchkey/testing; raise the numbers instead')
  }
  if (sound('password') && (table.password.cost < 10 || table.password.cost > 15)) {
    fault('password.cost', 'must be from 10 to 15')
  }
}
