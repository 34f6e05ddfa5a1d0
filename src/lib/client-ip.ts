import { isIP } from 'node:net'
import { copiedText } from './copied-text.js'
import { canonicalIp, canonicalSocketIp } from './ip-address.js'
import { createIpSet } from './ip-ranges.js'
import { keepableAsItIs, remember } from './remember.js'

/** Which proxies may state the client's address. */
export type TrustedProxies =
  | { kind: 'none' }
  | { kind: 'hops'; count: number }
  /** IP addresses and CIDRs, or `unix` for a proxy that comes through a Unix socket. */
  | { kind: 'cidrs'; cidrs: readonly string[] }

/** Finds the client's address: canonical, or null when it cannot be known. */
export type ClientIp = (
  socketIp: string | null,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
) => string | null

/** Real chains of proxies are short. A longer one is forged. */
const maxHops = 32

/**
 * Builds the function that finds a client's address: the socket's address, or the one that trusted proxies wrote into
 * `X-Forwarded-For`. That header is read from the right, because the client itself can write everything further left. No
 * other header is read (ASVS 5.0, 4.1.3). If a trusted proxy wrote something that is no address, the client is unknown.
 */
export function createClientIp(proxies: TrustedProxies): ClientIp {
  if (proxies.kind === 'none') {
    const socketIpOf = remember(canonicalSocketIp, 1_000, keepableAsItIs)
    return (socketIp) => (socketIp === null ? null : socketIpOf(socketIp))
  }
  if (proxies.kind === 'hops') {
    return (socketIp, headers) => byHops(proxies.count, canonicalSocketIp(socketIp), forwardedFor(headers))
  }
  const inNetworks = createIpSet(proxies.cidrs)
  const unix = proxies.cidrs.includes('unix')
  return (socketIp, headers) => {
    const socket = canonicalSocketIp(socketIp)
    const trusted = socketIp === null ? unix : inNetworks(socket)
    return trusted ? byNetworks(inNetworks, socket, forwardedFor(headers)) : socket
  }
}

/** The entry that the outermost of `count` proxies wrote. In a shorter chain: the first entry. */
function byHops(count: number, socket: string | null, entries: Iterable<string>): string | null {
  let hop = 0
  let client = socket
  for (const entry of entries) {
    if (hop === count) break
    client = forwardedIp(entry)
    hop += 1
  }
  return client
}

/** The first entry from the right that is no trusted proxy. If all are trusted: the first entry of the chain. */
function byNetworks(trusted: (ip: string) => boolean, socket: string | null, entries: Iterable<string>): string | null {
  let hop = 0
  let client = socket
  for (const entry of entries) {
    client = forwardedIp(entry)
    hop += 1
    if (client === null || !trusted(client)) return client
    if (hop === maxHops) return null
  }
  return client
}

/** The entries of `X-Forwarded-For` from the right, without empty ones (RFC 9110 §5.6.1). Repeated headers form one list. */
function* forwardedFor(headers: Parameters<ClientIp>[1]): Generator<string> {
  const value = headers['x-forwarded-for'] ?? ''
  const lines = typeof value === 'string' ? [value] : value
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? ''
    for (let end = line.length; end >= 0; ) {
      const comma = end === 0 ? -1 : line.lastIndexOf(',', end - 1)
      // No address with its spaces is that long, so skip trimming it.
      const entry = end - comma > 256 ? '-' : line.slice(comma + 1, end).replace(/^[ \t]+|[ \t]+$/g, '')
      if (entry !== '') yield entry
      end = comma
    }
  }
}

/**
 * Some proxies append the port: `192.0.2.1:443`, `[2001:db8::1]:443`. The result is a copy: lists and limits keep addresses,
 * and a slice of the header would keep the whole header in memory.
 */
function forwardedIp(entry: string): string | null {
  if (entry.length > 64) return null
  const text = copiedText(entry)
  const [, v6] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text) ?? []
  if (v6 !== undefined) return isIP(v6) === 6 ? canonicalIp(v6) : null
  const [, v4] = /^([\d.]+):\d{1,5}$/.exec(text) ?? []
  return canonicalIp(v4 ?? text)
}
