import { isIP } from 'node:net'
import type { Table } from './schema.js'
import type { Site } from './site.js'

/** Whether a host is that domain or below it. */
function isBelow(host: string, domain: string): boolean {
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
export function isAddress({ hostname }: Pick<Site, 'hostname'>): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
}

/** Whether passkeys of that RP id work at the host. A domain of one label is a public suffix, unless it is the whole host. */
export function isRpIdOf(rpId: string, hostname: string): boolean {
  return rpId === hostname || (rpId.includes('.') && isBelow(hostname, rpId))
}
