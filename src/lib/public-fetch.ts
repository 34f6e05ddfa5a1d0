import { isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { FetchFault, sendByNode } from './bounded-fetch.js'
import { isPublicAddress } from './public-address.js'
import type { World } from './runtime.js'
import { isLoopbackHost } from './url.js'

/** Which addresses a URL that a user typed may reach. */
export interface Reach {
  /** Any address, also in private networks. */
  allowPrivate: boolean
  /** This machine, for development. */
  allowLoopback: boolean
}

/**
 * A fetch that reaches public addresses only. It looks up every address of the host before each request, so a URL cannot
 * make the server call a cloud's metadata service or an internal host (ASVS 5.0, 1.3.6; OWASP on SSRF).
 *
 * It connects to the addresses that it has judged: a name that has another address a moment later (DNS rebinding) is not
 * looked up again. TLS checks the certificate for the name. Only an application's own `fetch` decides that by itself.
 */
export function publicFetch(world: Pick<World, 'fetch' | 'lookup' | 'ownFetch'>, reach: Reach): World['fetch'] {
  return async (input, init) => {
    const { hostname } = new URL(input instanceof Request ? input.url : input)
    if (reach.allowPrivate || (reach.allowLoopback && isLoopbackHost(hostname))) return world.fetch(input, init)
    const literal = literalAddress(hostname)
    const addresses = literal === null ? await world.lookup(hostname) : [literal]
    if (addresses.length === 0 || !addresses.every(isPublicAddress)) throw new FetchFault('private_address')
    if (literal !== null || world.ownFetch) return world.fetch(input, init)
    return fetchFrom(addresses, new Request(input, init))
  }
}

/** A fetch from one of these addresses, whatever the name of the host resolves to. Redirects are not followed. */
export async function fetchFrom(addresses: readonly string[], request: Request): Promise<Response> {
  const { method, url, signal, body } = request
  const answer = await sendByNode({
    method,
    url,
    // `node:http` decompresses nothing.
    headers: { ...Object.fromEntries(request.headers), 'accept-encoding': 'identity' },
    body: body === null ? null : await request.text(),
    signal,
    lookup: lookupOf(addresses),
  })
  const { statusCode: status = 0, headers } = answer
  const fields = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const isEmpty = status === 204 || status === 205 || status === 304
  if (isEmpty) answer.resume()
  return new Response(isEmpty ? null : Readable.toWeb(answer), { status, headers: fields })
}

/** Resolves every name to these addresses. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, { all }, done) => {
    if (all) done(null, found)
    else done(null, found[0]?.address ?? '', found[0]?.family)
  }
}

/** Whether the host is a literal address that is not public. It needs no lookup. */
export function namesPrivateAddress(hostname: string, { allowPrivate, allowLoopback }: Reach): boolean {
  if (allowPrivate || (allowLoopback && isLoopbackHost(hostname))) return false
  const literal = literalAddress(hostname)
  return isLoopbackHost(hostname) || (literal !== null && !isPublicAddress(literal))
}

/** `URL.hostname` puts IPv6 into brackets and writes every number that could be an IPv4 address as one. */
function literalAddress(hostname: string): string | null {
  const text = hostname.replace(/^\[|\]$/g, '')
  return isIP(text) === 0 ? null : text
}
