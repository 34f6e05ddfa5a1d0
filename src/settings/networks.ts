import { z } from 'zod'
import type { TrustedProxies } from '../lib/client-ip.js'
import { parseCidr } from '../lib/ip-address.js'
import { either, text, wholeNumber } from './field.js'

/** An entry of the allow-list, canonical. */
export const network = text('must be an IP address or a CIDR', (value) => parseCidr(value)?.text ?? null)

/** With a range of all addresses as trusted proxies, every client could claim any address. */
const proxyNetwork = text('must be an IP address, a CIDR other than 0.0.0.0/0 and ::/0, or unix', (value) => {
  if (value === 'unix') return value
  const cidr = parseCidr(value)
  return cidr === null || cidr.prefix === 0 ? null : cidr.text
})

const hops = wholeNumber(0, 16).transform(
  (count): TrustedProxies => (count === 0 ? { kind: 'none' } : { kind: 'hops', count }),
)
const networks = z
  .array(proxyNetwork, { error: 'must be a number of hops or a list of IP addresses and CIDRs' })
  .transform((cidrs): TrustedProxies => (cidrs.length === 0 ? { kind: 'none' } : { kind: 'cidrs', cidrs }))

export const trustedProxies = either<number | readonly string[], TrustedProxies>((value) =>
  typeof value === 'number' ? hops : networks,
)
