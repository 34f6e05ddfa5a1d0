import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCidr } from '../../src/lib/ip-address.js'
import { createAllowRule, createIpRanges, createIpSet } from '../../src/lib/ip-ranges.js'

/** Few bits differ, so that networks touch, hold each other and are hit. */
const part = (bits: number) =>
  fc.constantFrom(0, 1, 2, 127, 128, 254, 255, ...(bits === 16 ? [256, 32_768, 65_535] : []))
const ipv4 = fc.array(part(8), { minLength: 4, maxLength: 4 }).map((parts) => parts.join('.'))
const ipv6 = fc
  .array(part(16), { minLength: 8, maxLength: 8 })
  .map((parts) => parts.map((group) => group.toString(16)).join(':'))
const cidr = fc.oneof(
  fc.tuple(ipv4, fc.nat(32)).map(([ip, prefix]) => `${ip}/${prefix}`),
  fc.tuple(ipv6, fc.nat(128)).map(([ip, prefix]) => `${ip}/${prefix}`),
)

describe('a set of networks', () => {
  test('holds what a BlockList of the same networks holds', () => {
    const property = fc.property(fc.array(cidr, { maxLength: 40 }), fc.array(fc.oneof(ipv4, ipv6)), (networks, ips) => {
      // One for each family: a BlockList counts IPv4 among IPv6 as mapped, for which parseCidr has a spelling of its own.
      const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
      for (const text of networks) {
        const network = parseCidr(text)
        if (network) lists[network.family].addSubnet(network.address, network.prefix, network.family)
      }
      const isIn = createIpSet(networks)
      for (const ip of ips) {
        const family = isIPv4(ip) ? 'ipv4' : 'ipv6'
        expect(isIn(ip), `${ip} in ${networks}`).toBe(lists[family].check(ip, family))
      }
    })
    fc.assert(property, { numRuns: 500 })
  })

  test('holds the first and the last address of each network, and not those beside them', () => {
    const isIn = createIpSet(['192.0.2.64/26', '10.0.0.0/8', '2001:db8:0:1::/64', '2001:db8::40/122', '::/128'])
    for (const ip of ['192.0.2.64', '192.0.2.127', '10.0.0.0', '10.255.255.255', '2001:db8:0:1::', '::']) {
      expect(isIn(ip), ip).toBe(true)
    }
    for (const ip of ['2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:db8::40', '2001:db8::7f']) {
      expect(isIn(ip), ip).toBe(true)
    }
    for (const ip of ['2001:db8::3f', '2001:db8::80']) expect(isIn(ip), ip).toBe(false)
    for (const ip of ['192.0.2.63', '192.0.2.128', '9.255.255.255', '11.0.0.0', '2001:db8:0:2::', '::1', '0.0.0.0']) {
      expect(isIn(ip), ip).toBe(false)
    }
  })

  test('holds none without any network', () => {
    const isIn = createIpSet([])
    for (const ip of ['0.0.0.0', '255.255.255.255', '::', '1::1', '::ffff']) expect(isIn(ip), ip).toBe(false)
  })

  test('holds each of thousands, and nothing between them', () => {
    const numbers = Array.from({ length: 10_000 }, (_, index) => index)
    const v4 = (index: number) => `10.${index >> 8}.${index & 255}`
    const v6 = (index: number) => `2001:db8:${index.toString(16)}`
    const isIn = createIpSet(numbers.flatMap((index) => [`${v4(index)}.64/26`, `${v6(index)}:8000::/49`]))
    for (const index of numbers) {
      const asked = [`${v4(index)}.63`, `${v4(index)}.64`, `${v4(index)}.127`, `${v4(index)}.128`]
      const asked6 = [`${v6(index)}:7fff::`, `${v6(index)}:8000::`, `${v6(index)}:ffff::1`, `${v6(index)}::`]
      const found = [...asked, ...asked6].map(isIn)
      expect(found, asked[0]).toEqual([false, true, true, false, false, true, true, false])
    }
  })

  test('holds nothing that is no address, whatever was asked before', () => {
    const networks = ['1.2.3.4', '1.2.3.0', '1:2:3:4:5:6:7:8', '::', '1::'].map(parseCidr)
    const isIn = createIpRanges(networks.filter((network) => network !== null))
    for (const ip of ['1.2.3.4', '1:2:3:4:5:6:7:8', '1::']) expect(isIn(ip), ip).toBe(true)
    for (const text of ['1.2.3', '1.2.3.4.5', '', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4::5:6:7:8', '1:']) {
      expect(isIn(text), text).toBe(false)
    }
  })

  const single = [
    '::',
    '::8',
    '8::',
    '1::',
    '1::8',
    '::3:4:5:6:7:8',
    '1::4:5:6:7:8',
    '1:2:3:4:5:6::',
    '1:2:3:4:5:6:7:8',
    '1:0:3:4:5:6:7:8',
    '::1:0:0:4',
    '1:0:0:4::',
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ]
  test.each(single)('%s alone holds itself and none of the others', (ip) => {
    const isIn = createIpSet([ip])
    expect(single.filter(isIn)).toEqual([ip])
  })
})

test('the rule of an allow-list: without entries all, with a count of proxies none', () => {
  const clients = [true, false].map((knowsClients) => ({ knowsClients }))
  for (const policy of clients) expect(createAllowRule([], policy)(null)).toBe(true)
  const [known, counted] = clients.map((policy) => createAllowRule(['192.0.2.0/24', 'nowhere'], policy))
  expect(['192.0.2.7', '198.51.100.1', null].map((ip) => known?.(ip))).toEqual([true, false, false])
  expect(['192.0.2.7', '198.51.100.1', null].map((ip) => counted?.(ip))).toEqual([false, false, false])
  expect(createAllowRule(['nowhere'], { knowsClients: true })('192.0.2.7')).toBe(false)
})
