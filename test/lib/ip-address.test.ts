import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { createClientIp } from '../../src/lib/client-ip.js'
import { canonicalIp, canonicalSocketIp, coarseNetwork, limitKey, parseCidr } from '../../src/lib/ip-address.js'
import { createIpSet } from '../../src/lib/ip-ranges.js'

interface Vectors {
  addresses: { input: string; expect: string; canonical?: string; why: string }[]
  cidr: { cidr: string; ip: string; match: boolean; why: string }[]
  invalid_cidr: unknown[]
  rate_limit_keys: { same_key: [string, string][]; different_key: [string, string][] }[]
  allow_list: { id: string; list: string[]; client: string; expect: string }[]
}

const vectors: Vectors = JSON.parse(readFileSync(new URL('../vectors/ip-parsing.json', import.meta.url), 'utf8'))
const addresses = vectors.addresses.map((entry, index) => ({ id: String(index + 1), ...entry }))
const behindOne = createClientIp({ kind: 'cidrs', cidrs: ['10.0.0.0/8'] })

describe('addresses', () => {
  test.each(addresses.filter((entry) => entry.expect === 'valid'))(
    'address $id $input is $canonical ($why)',
    (entry) => {
      expect(canonicalIp(entry.input)).toBe(entry.canonical)
      expect(canonicalSocketIp(entry.input)).toBe(entry.canonical)
      expect(behindOne('10.0.0.1', { 'x-forwarded-for': entry.input })).toBe(entry.canonical)
    },
  )

  test.each(addresses.filter((entry) => entry.expect === 'invalid'))(
    'ATK-105 address $id $input is no address ($why)',
    ({ input }) => {
      expect(canonicalIp(input)).toBeNull()
      expect(canonicalSocketIp(input)).toBeNull()
    },
  )

  test.each(addresses.filter((entry) => entry.expect === 'valid-in-xff'))(
    'address $id $input is $canonical in X-Forwarded-For and nowhere else ($why)',
    ({ input, canonical }) => {
      expect(canonicalIp(input)).toBeNull()
      expect(canonicalSocketIp(input)).toBeNull()
      expect(behindOne('10.0.0.1', { 'x-forwarded-for': input })).toBe(canonical)
    },
  )

  test.each(addresses.filter((entry) => entry.expect === 'valid-in-forwarded'))(
    'address $id $input belongs into Forwarded, which is not read ($why)',
    ({ input }) => {
      expect(canonicalIp(input)).toBeNull()
      expect(behindOne('10.0.0.1', { 'x-forwarded-for': input })).toBeNull()
    },
  )

  test.each(addresses.filter((entry) => entry.expect === 'invalid-unless-link-local'))(
    'ATK-105 address $id $input is $canonical as a socket and nothing in a header ($why)',
    ({ input, canonical }) => {
      expect(canonicalSocketIp(input)).toBe(canonical)
      expect(canonicalIp(input)).toBeNull()
      expect(behindOne('10.0.0.1', { 'x-forwarded-for': input })).toBeNull()
      expect(behindOne('10.0.0.1', { 'x-forwarded-for': `[${input}]:80` })).toBeNull()
    },
  )

  test('every kind of entry in the list is a test', () => {
    const kinds = ['valid', 'invalid', 'valid-in-xff', 'valid-in-forwarded', 'invalid-unless-link-local']
    expect(new Set(addresses.map((entry) => entry.expect))).toEqual(new Set(kinds))
  })

  test.each([[null], [undefined], [0], [{}], [['192.0.2.1']]])('%o is no address', (input) => {
    expect(canonicalIp(input)).toBeNull()
    expect(canonicalSocketIp(input)).toBeNull()
  })

  test('whatever comes in, the canonical form is an address and its own canonical form', () => {
    const text = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.ipV4Extended(),
      fc.ipV4().map((ip) => `::ffff:${ip}`),
      fc.string(),
      fc.anything(),
    )
    fc.assert(
      fc.property(text, (input) => {
        const result = canonicalIp(input)
        if (result === null) return
        expect(isIP(result)).not.toBe(0)
        expect(canonicalIp(result)).toBe(result)
        expect(canonicalSocketIp(result)).toBe(result)
      }),
    )
  })

  test('every IPv6 address has one spelling', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
        const full = groups.map((group) => group.toString(16).padStart(4, '0')).join(':')
        const short = groups.map((group) => group.toString(16).toUpperCase()).join(':')
        const expected = new URL(`http://[${full}]`).hostname.slice(1, -1)
        const mapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535'
        if (!mapped) expect(canonicalIp(full)).toBe(expected)
        expect(canonicalIp(short)).toBe(canonicalIp(full))
      }),
    )
  })
})

describe('networks', () => {
  test.each(vectors.cidr)('ATK-105 $ip in $cidr: $match', ({ cidr, ip, match }) => {
    expect(createIpSet([cidr])(ip)).toBe(match)
    expect(createIpSet([parseCidr(cidr)?.text ?? ''])(ip)).toBe(match)
  })

  test.each(vectors.invalid_cidr.map((input) => [input]))('ATK-105 %j is no network', (input) => {
    expect(parseCidr(input)).toBeNull()
  })

  test.each([
    ['192.0.2.9/24', '192.0.2.0/24'],
    ['192.0.2.9', '192.0.2.9'],
    ['192.0.2.9/32', '192.0.2.9'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::9/32', '2001:db8::/32'],
    ['2001:db8::9', '2001:db8::9'],
    ['::ffff:192.0.2.9', '192.0.2.9'],
    ['::ffff:192.0.2.9/120', '192.0.2.0/24'],
    ['::ffff:192.0.2.9/128', '192.0.2.9'],
  ])('%s is the network %s', (input, text) => {
    expect(parseCidr(input)?.text).toBe(text)
  })

  test.each([
    '192.0.2.0/33',
    '2001:db8::/129',
    '::ffff:192.0.2.0/95',
    '::ffff:192.0.2.0/129',
    'fe80::1%eth0',
    'fe80::%1/64',
    '010.0.0.0/8',
  ])('ATK-105 %s is no network', (input) => {
    expect(parseCidr(input)).toBeNull()
  })

  test('a set matches nothing that is no address, and an entry that is no network matches nothing', () => {
    const all = createIpSet(['0.0.0.0/0', '::/0'])
    expect(all('192.0.2.1')).toBe(true)
    expect(all('2001:db8::1')).toBe(true)
    expect(all(null)).toBe(false)
    expect(all('unknown')).toBe(false)
    expect(createIpSet(['not-an-ip'])('203.0.113.9')).toBe(false)
    expect(createIpSet([])('203.0.113.9')).toBe(false)
  })

  test.each(vectors.allow_list.filter(({ list }) => list.length > 0))(
    'ATK-105 list $id: $expect',
    ({ list, client }) => {
      expect(createIpSet(list)(client)).toBe(list.includes(client))
    },
  )

  test('an address is in the network of its own first bits, and a network is its own network', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(fc.ipV4(), fc.nat(32)), fc.tuple(fc.ipV6(), fc.nat(128))), ([ip, prefix]) => {
        const network = parseCidr(`${ip}/${prefix}`)
        if (network === null) return expect(canonicalIp(ip)).toMatch(/^[\d.]+$/)
        expect(createIpSet([network.text])(ip)).toBe(true)
        expect(parseCidr(network.text)).toEqual(network)
      }),
    )
  })

  test('whatever comes in, what is read as a network is read the same way again', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string({ unit: fc.constantFrom(...'0129af:./%') })), (input) => {
        const network = parseCidr(input)
        if (network !== null) expect(parseCidr(network.text)).toEqual(network)
      }),
      { numRuns: 500 },
    )
  })
})

describe('keys of limits', () => {
  const [keys] = vectors.rate_limit_keys

  test.each(keys?.same_key ?? [])('ATK-012 %s and %s share one bucket', (left, right) => {
    expect(limitKey(left)).toBe(limitKey(right))
  })

  test.each(keys?.different_key ?? [])('ATK-012 %s and %s have each their own', (left, right) => {
    expect(limitKey(left)).not.toBe(limitKey(right))
  })

  test('an IPv4 address is its own key, an IPv6 address counts by its /64, the rest is one', () => {
    expect(limitKey('192.0.2.1')).toBe('192.0.2.1')
    expect(limitKey('2001:db8:1:1:ffff::9')).toBe('2001:db8:1:1::/64')
    expect(limitKey('::1')).toBe('::/64')
    expect(limitKey('not-an-ip')).toBe('unknown')
  })

  test('roughly the same place is the /24 of an IPv4 address and the /48 of an IPv6 address', () => {
    expect(coarseNetwork('192.0.2.77')).toBe('192.0.2.0/24')
    expect(coarseNetwork('::ffff:192.0.2.77')).toBe('192.0.2.0/24')
    expect(coarseNetwork('2001:db8:1:ffff::9')).toBe('2001:db8:1::/48')
    expect([coarseNetwork(null), coarseNetwork('not-an-ip')]).toEqual([null, null])
  })
})

describe('canonical addresses and networks', () => {
  const group = fc.oneof(fc.constant(0), fc.constant(0xffff), fc.nat({ max: 0xffff }))
  const address = fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.map((one) => one.toString(16)))

  test('are what ipaddr.js makes of them', () => {
    fc.assert(
      fc.property(address, fc.boolean(), fc.nat({ max: 128 }), (groups, upper, prefix) => {
        const text = upper ? groups.join(':').toUpperCase() : groups.join(':')
        expect(canonicalIp(text)).toBe(ipaddr.process(text).toString())
        if (canonicalIp(text)?.includes('.')) return
        const network = ipaddr.IPv6.networkAddressFromCIDR(`${text}/${prefix}`).toString()
        expect(parseCidr(`${text}/${prefix}`)?.address).toBe(network)
      }),
    )
  })

  test('of IPv4 are what ipaddr.js makes of them', () => {
    const octet = fc.nat({ max: 255 })
    fc.assert(
      fc.property(octet, octet, octet, octet, fc.nat({ max: 32 }), (a, b, c, d, prefix) => {
        const text = `${a}.${b}.${c}.${d}`
        expect(parseCidr(`${text}/${prefix}`)?.address).toBe(
          ipaddr.IPv4.networkAddressFromCIDR(`${text}/${prefix}`).toString(),
        )
        const mapped = `0:0:0:0:0:ffff:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
        expect(canonicalIp(mapped)).toBe(text)
      }),
    )
  })
})
