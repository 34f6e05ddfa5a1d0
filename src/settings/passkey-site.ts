import { isIP } from 'node:net'
import type { Seen } from './rules.js'
import type { Table } from './schema.js'
import type { Site } from './site.js'

/** Browsers count the labels before the public suffix, and take five. */
const mostSites = 5

/** Whether a host is that domain or below it. */
export function isBelow(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}

export function passkeyRules({ table, site, sound, fault }: Seen): void {
  if (!site || !sound('passkeys', 'cookies', 'trustedOrigins')) return
  const { rpId } = table.passkeys
  if (rpId !== null && !isAddress(site) && !isAbove(rpId, site.hostname)) {
    fault('passkeys.rpId', 'must be the host of baseUrl or a domain above it')
    return
  }
  const sites = new Set(relatedOrigins(passkeysOf(table, site)).map(siteOf))
  if (sites.size > mostSites) fault('passkeys.origins', `must not name more than ${mostSites} other sites`)
}

/** The settings of passkeys with every default. */
export function passkeysOf(table: Pick<Table, 'passkeys' | 'cookies' | 'brand' | 'trustedOrigins'>, site: Site) {
  const { enabled, max, signUp, upgrade, ...given } = table.passkeys
  const rpId = given.rpId ?? table.cookies.domain ?? site.hostname
  const below = table.trustedOrigins.filter((origin) => isBelow(new URL(origin).hostname, rpId))
  return {
    enabled: enabled && !isAddress(site),
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
    .filter((origin) => {
      return !isBelow(new URL(origin).hostname, rpId)
    })
}

/** The label that browsers count: without a list of public suffixes, the one before the last. */
function siteOf(origin: string): string {
  return new URL(origin).hostname.split('.').slice(-2)[0] ?? ''
}

/** An IP address is no RP id (WebAuthn §5.1.3). */
function isAddress({ hostname }: Pick<Site, 'hostname'>): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** A domain of one label is a public suffix, unless it is the whole host. */
function isAbove(rpId: string, hostname: string): boolean {
  return rpId === hostname || (rpId.includes('.') && isBelow(hostname, rpId))
}
