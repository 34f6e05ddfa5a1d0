import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createClientIp, type TrustedProxies } from '../../src/lib/client-ip.js'
import { canonicalIp } from '../../src/lib/ip-address.js'
import { heapUsed } from '../support/heap.js'

interface Chain {
  id: string
  trusted_proxies: string[] | { hops: number }
  peer: string | null
  headers: Record<string, string | string[] | { generator: string }>
  expected_client: string
  why: string
}

interface Vectors {
  forwarded_chains: Chain[]
}

const vectors: Vectors = JSON.parse(readFileSync(new URL('../vectors/ip-parsing.json', import.meta.url), 'utf8'))
const behindOne = createClientIp({ kind: 'cidrs', cidrs: ['10.0.0.0/8'] })

describe('the client behind proxies', () => {
  /** Where the list leaves it to us. */
  const decided: Readonly<Record<string, string>> = {
    'header-empty': '10.0.0.1',
    'x-real-ip-and-xff-disagree': '203.0.113.9',
    rfc7239: '10.0.0.1',
    'hop-count-2-short-chain': '203.0.113.9',
  }

  test.each(vectors.forwarded_chains)('ATK-105 chain $id: $expected_client ($why)', (chain) => {
    const expected = decided[chain.id] ?? (chain.expected_client === 'deny' ? null : chain.expected_client)
    expect(createClientIp(proxiesOf(chain))(chain.peer, headersOf(chain))).toBe(expected)
  })

  function proxiesOf({ trusted_proxies: trusted }: Chain): TrustedProxies {
    if (!Array.isArray(trusted)) return { kind: 'hops', count: trusted.hops }
    return trusted.length === 0 ? { kind: 'none' } : { kind: 'cidrs', cidrs: trusted }
  }

  function headersOf({ headers }: Chain): Record<string, string | string[]> {
    const long = `${'192.0.2.1,'.repeat(10_000)}203.0.113.9`
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        typeof value === 'string' || Array.isArray(value) ? value : long,
      ]),
    )
  }

  test('ATK-105 what is no address where a trusted proxy writes makes the client unknown', () => {
    for (const entry of [
      'garbage',
      'unknown',
      '_hidden',
      '0300.0.2.1',
      '192.0.2.1 192.0.2.2',
      `192.0.2.1${' '.repeat(300)}x`,
      'fe80::1%eth0',
    ]) {
      expect(behindOne('10.0.0.1', { 'x-forwarded-for': `192.0.2.1, ${entry}` })).toBeNull()
      expect(
        createClientIp({ kind: 'hops', count: 1 })('10.0.0.1', { 'x-forwarded-for': `192.0.2.1, ${entry}` }),
      ).toBeNull()
    }
  })

  test('a chain of trusted proxies alone ends at its first member, one without header at the socket', () => {
    expect(behindOne('10.0.0.1', { 'x-forwarded-for': '10.0.0.3, 10.0.0.2' })).toBe('10.0.0.3')
    expect(behindOne('10.0.0.1', {})).toBe('10.0.0.1')
    expect(behindOne('::ffff:10.0.0.1', { 'x-forwarded-for': ' , ,' })).toBe('10.0.0.1')
    expect(createClientIp({ kind: 'hops', count: 2 })('::ffff:10.0.0.1', {})).toBe('10.0.0.1')
  })

  test('ATK-105 a chain of more trusted hops than any real one is nobody', () => {
    const chain = (length: number) => Array(length).fill('10.0.0.2').join(',')
    expect(behindOne('10.0.0.1', { 'x-forwarded-for': chain(20) })).toBe('10.0.0.2')
    expect(behindOne('10.0.0.1', { 'x-forwarded-for': `203.0.113.9,${chain(100)}` })).toBeNull()
  })

  test('ATK-105 a Unix socket is a proxy only when it is named one', () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    expect(createClientIp({ kind: 'cidrs', cidrs: ['unix', '10.0.0.0/8'] })(null, headers)).toBe('203.0.113.9')
    expect(createClientIp({ kind: 'cidrs', cidrs: ['unix'] })('203.0.113.50', headers)).toBe('203.0.113.50')
    expect(behindOne(null, headers)).toBeNull()
    expect(createClientIp({ kind: 'cidrs', cidrs: ['unix'] })('not-an-ip', headers)).toBeNull()
  })

  test('ATK-105 hops count from the right', () => {
    const headers = { 'x-forwarded-for': ['192.0.2.1, 203.0.113.9', '198.51.100.7'] }
    expect(createClientIp({ kind: 'hops', count: 1 })('10.0.0.1', headers)).toBe('198.51.100.7')
    expect(createClientIp({ kind: 'hops', count: 2 })('10.0.0.1', headers)).toBe('203.0.113.9')
    expect(createClientIp({ kind: 'hops', count: 3 })(null, headers)).toBe('192.0.2.1')
  })

  test('whatever comes in, the answer is a canonical address or null', () => {
    const kinds: TrustedProxies[] = [
      { kind: 'none' },
      { kind: 'hops', count: 2 },
      { kind: 'cidrs', cidrs: ['10.0.0.0/8', '::/1', 'unix'] },
    ]
    const entry = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom('', ' ', '10.0.0.2', '[::1]:80', '[', '1.2.3.4:', ':'),
      fc.string(),
    )
    const header = fc.oneof(
      fc.array(entry).map((entries) => entries.join(',')),
      fc.array(entry),
      fc.constant(undefined),
    )
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.option(entry), header, (proxies, socket, forwarded) => {
        const client = createClientIp(proxies)(socket, { 'x-forwarded-for': forwarded })
        expect(client === null || canonicalIp(client) === client).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

test('an address that is kept does not keep the header alive that a proxy wrote', () => {
  const kilobytes = 200
  const trusted: TrustedProxies[] = [
    { kind: 'hops', count: 1 },
    { kind: 'cidrs', cidrs: ['192.0.2.0/24'] },
  ]
  for (const proxies of trusted) {
    const clientIp = createClientIp(proxies)
    const before = heapUsed()
    const kept = Array.from({ length: 500 }, (_, index) => {
      const line = Buffer.from(`${' '.repeat(kilobytes * 1024)},203.100.113.${index % 250}`).toString('latin1')
      return clientIp('192.0.2.1', { 'x-forwarded-for': line })
    })
    const grown = heapUsed() - before
    expect(kept[499]).toBe('203.100.113.249')
    expect(grown).toBeLessThan(100 * kilobytes * 1024)
  }
})
