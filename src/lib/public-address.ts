import { canonicalIp } from './ip-address.js'
import { createIpSet } from './ip-ranges.js'

/**
 * The special-purpose ranges of the IANA registries (RFC 6890): this host, private and shared networks, link-local with the
 * metadata services of clouds, documentation, multicast, reserved. Of IPv6 only 2000::/3 is public, except ranges that carry
 * an IPv4 address inside (Teredo, 6to4).
 */
const notPublic = createIpSet([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/3', '::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
])

/** Whether the text is one address of the public internet. Text that is no address is not. */
export function isPublicAddress(text: string): boolean {
  const address = canonicalIp(text)
  return address !== null && !notPublic(address)
}
