import { isIP } from 'node:net'
import { isPublicSuffix, registrableDomain } from './public-suffix.js'
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
