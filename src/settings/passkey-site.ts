import { isIP } from 'node:net'
import type { Table } from './schema.js'
import type { Site } from './site.js'

/** Whether a host is that domain or below it, as that of a page is to its RP id. */
export function isBelow(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}

/** The sites that browsers count. An RP id may name five. */
export function relatedSites(passkeys: { rpId: string; origins: readonly string[] }): number {
  return new Set(relatedOrigins(passkeys).map(siteOf)).size
}

/** The settings of passkeys with every default. */
export function passkeysOf(table: Pick<Table, 'passkeys' | 'cookies' | 'brand' | 'trustedOrigins'>, site: Site) {
  const { enabled, max, signUp, upgrade, ...given } = table.passkeys
  const rpId = given.rpId ?? table.cookies.domain ?? site.hostname
  const below = table.trustedOrigins.filter((origin) => isBelow(new URL(origin).hostname, rpId))
  return {
    enabled: enabled && !isAddress(site),
    offAtAddress: enabled && isAddress(site),
    rpId,
    rpName: given.rpName ?? table.brand.name ?? site.hostname,
    origins: [...new Set(given.origins ?? [site.origin, ...below])],
    max,
    signUp,
    upgrade,
  }
}

/** Origins of other sites, which browsers accept only where the RP id names them. Apps are not among them. */
export function relatedOrigins({ rpId, origins }: { rpId: string; origins: readonly string[] }): string[] {
  return origins
    .filter((origin) => URL.canParse(origin) && /^https?:/.test(origin))
    .filter((origin) => !isBelow(new URL(origin).hostname, rpId))
}

/** The label that browsers count: `example` of `app.example.com`, also of `example.co.uk` (WebAuthn §5.11.1). */
function siteOf(origin: string): string {
  return registrableDomain(new URL(origin).hostname).split('.')[0] ?? ''
}

/** An IP address is no RP id (WebAuthn §5.1.3). */
export function isAddress({ hostname }: Pick<Site, 'hostname'>): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** Whether browsers refuse that domain, because strangers have hosts below it. They accept the whole host of the page. */
export function isSharedDomain(domain: string, hostname: string): boolean {
  return domain !== hostname && isPublicSuffix(domain)
}

/** Second labels below a country that anybody registers below, such as `co` in `example.co.uk`. */
const countrySeconds = new Set(['ac', 'co', 'com', 'edu', 'gov', 'gob', 'govt', 'ne', 'net', 'or', 'org'])

/** Countries in which such a label can be the domain of one owner, such as `ne.ch` of a canton. */
const withoutSeconds = new Set(['be', 'ch', 'cz', 'de', 'dk', 'eu', 'fi', 'li', 'lu', 'nl'])

/** Domains whose owners let anybody have a host below them. */
const hosting = new Set([
  'azurewebsites.net',
  'cloudfront.net',
  'deno.dev',
  'firebaseapp.com',
  'fly.dev',
  'github.io',
  'gitlab.io',
  'herokuapp.com',
  'netlify.app',
  'ngrok-free.app',
  'onrender.com',
  'pages.dev',
  'vercel.app',
  'web.app',
  'workers.dev',
])

/**
 * Whether hosts below that domain belong to different owners. It knows the common domains only: the whole list has 10,000 entries and
 * changes every week, and browsers check it themselves.
 *
 * @example isPublicSuffix('co.uk') // true
 */
export function isPublicSuffix(domain: string): boolean {
  const labels = domain.split('.')
  const [second = '', top = ''] = labels
  if (labels.length === 1) return true
  if (labels.length > 2) return false
  return hosting.has(domain) || (top.length === 2 && countrySeconds.has(second) && !withoutSeconds.has(top))
}

/**
 * The domain that the owner of a host has registered, as far as the common public suffixes tell. An IP address stays as it is.
 *
 * @example registrableDomain('www.example.co.uk') // 'example.co.uk'
 */
export function registrableDomain(hostname: string): string {
  if (/^[\d.]+$|:/.test(hostname)) return hostname
  const labels = hostname.toLowerCase().replace(/\.$/, '').split('.')
  const twoLast = labels.slice(-2).join('.')
  return isPublicSuffix(twoLast) ? labels.slice(-3).join('.') : twoLast
}
