import { isIP } from 'node:net'
import { FetchFault } from './bounded-fetch.js'
import { isPublicAddress } from './public-address.js'
import type { World } from './runtime.js'
import { isLoopbackHost } from './url.js'

/** How far an address that somebody typed may lead. */
export interface Reach {
  /** Anywhere, also into private networks. */
  allowPrivate: boolean
  /** This very machine, where the application is developed. */
  allowLoopback: boolean
}

/**
 * A fetch that asks public addresses only: every address of the host is looked up before each request, so that nobody can
 * have us ask the metadata service of a cloud or a neighbour (ASVS 5.0, 1.3.6; OWASP on SSRF).
 *
 * The connection looks the name up once more by itself. Whoever changes it in between (DNS rebinding) still has to show a
 * certificate for that name, since anything but loopback is asked by https.
 */
export function publicFetch(world: Pick<World, 'fetch' | 'lookup'>, reach: Reach): World['fetch'] {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (!(await mayAsk(world, url.hostname, reach))) throw new FetchFault('private_address')
    return world.fetch(input, init)
  }
}

/** What can be said of a host without looking it up: that it names an address which is not public. */
export function namesPrivateAddress(hostname: string, { allowPrivate, allowLoopback }: Reach): boolean {
  if (allowPrivate || (allowLoopback && isLoopbackHost(hostname))) return false
  const literal = literalAddress(hostname)
  return isLoopbackHost(hostname) || (literal !== null && !isPublicAddress(literal))
}

async function mayAsk({ lookup }: Pick<World, 'lookup'>, hostname: string, reach: Reach): Promise<boolean> {
  if (reach.allowPrivate || (reach.allowLoopback && isLoopbackHost(hostname))) return true
  const literal = literalAddress(hostname)
  const addresses = literal === null ? await lookup(hostname) : [literal]
  return addresses.length > 0 && addresses.every(isPublicAddress)
}

/** `URL.hostname` puts IPv6 into brackets and spells every number that could be an IPv4 address as one. */
function literalAddress(hostname: string): string | null {
  const text = hostname.replace(/^\[|\]$/g, '')
  return isIP(text) === 0 ? null : text
}
