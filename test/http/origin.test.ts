import { describe, expect, test } from 'vitest'
import type { RequestHeaders } from '../../src/http/message.js'
import { type OriginFacts, originFault } from '../../src/http/origin.js'

const own = 'https://app.example.com'
const trusted = 'https://spa.example.com'
const origins = { ownOrigins: [own], trustedOrigins: [trusted] }

interface Sent extends Partial<OriginFacts> {
  method?: string
  headers?: RequestHeaders
  rawHeaders?: readonly string[]
}

function fault({ method = 'POST', headers = {}, rawHeaders, ...facts }: Sent): string | null {
  const request = { method, headers, rawHeaders: rawHeaders ?? null }
  return originFault(request, origins, { cookieDecides: false, form: false, ...facts })
}

const writes = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT', 'get', 'PROPFIND', '']
const reads = ['GET', 'HEAD', 'OPTIONS']

const foreign = [
  'https://evil.test',
  'null',
  'NULL',
  '',
  'http://app.example.com',
  'https://app.example.com:8443',
  'https://app.example.com.evil.test',
  'https://evil.test/https://app.example.com',
  'https://APP.example.com',
  'https://app.example.com/',
  'https://app.example.com ',
  'https://sub.app.example.com',
  'https://app.example.com, https://evil.test',
  'https://app.example.com, https://app.example.com',
]

describe('ATK-078 writes', () => {
  test.each(foreign)('ATK-078 Origin %j is refused, whoever decides and whatever else is sent', (origin) => {
    for (const method of writes) {
      for (const cookieDecides of [true, false]) {
        expect(fault({ method, headers: { origin }, cookieDecides })).toBe('csrf_rejected')
        expect(fault({ method, headers: { origin, 'sec-fetch-site': 'same-origin' }, cookieDecides })).toBe(
          'csrf_rejected',
        )
      }
    }
  })

  test.each([own, trusted])('Origin %j passes', (origin) => {
    for (const method of writes) expect(fault({ method, headers: { origin }, cookieDecides: true })).toBeNull()
  })

  test('ATK-078 Origin twice is refused, even if both are ours', () => {
    expect(fault({ headers: { origin: [own, own] } })).toBe('csrf_rejected')
    expect(fault({ headers: { origin: own }, rawHeaders: ['Origin', own, 'origin', own] })).toBe('csrf_rejected')
  })

  test.each(['cross-site', 'same-site', 'Same-Origin', '', 'none, none'])(
    'ATK-078 without Origin, Sec-Fetch-Site %j is refused',
    (site) => {
      for (const cookieDecides of [true, false]) {
        expect(fault({ headers: { 'sec-fetch-site': site }, cookieDecides })).toBe('csrf_rejected')
      }
    },
  )

  test.each(['same-origin', 'none'])('without Origin, Sec-Fetch-Site %j passes', (site) => {
    expect(fault({ headers: { 'sec-fetch-site': site }, cookieDecides: true })).toBeNull()
  })

  test('ATK-078 a cookie of ours with neither header is refused', () => {
    expect(fault({ cookieDecides: true })).toBe('csrf_rejected')
  })

  test('ATK-078 a program that sends neither header and no cookie of ours passes', () => {
    expect(fault({})).toBeNull()
    expect(fault({ headers: { cookie: '__cf_bm=set-by-a-proxy' } })).toBeNull()
  })
})

describe('ATK-078 reads', () => {
  test.each(foreign)('ATK-078 Origin %j is refused where a cookie decides, and only there', (origin) => {
    for (const method of reads) {
      expect(fault({ method, headers: { origin }, cookieDecides: true })).toBe('csrf_rejected')
      expect(fault({ method, headers: { origin } })).toBeNull()
    }
  })

  test.each([own, trusted])('Origin %j passes', (origin) => {
    for (const method of reads) expect(fault({ method, headers: { origin }, cookieDecides: true })).toBeNull()
  })

  test.each(['cross-site', 'same-site', 'same-origin', 'none', undefined])(
    'a link followed from elsewhere passes: Sec-Fetch-Site %j',
    (site) => {
      const headers = site === undefined ? {} : { 'sec-fetch-site': site }
      expect(fault({ method: 'GET', headers, cookieDecides: true })).toBeNull()
    },
  )
})

describe('ATK-078 upgrades', () => {
  test('ATK-078 an upgrade is judged like a write although it is a GET', () => {
    const upgrade = { method: 'GET', upgrade: true }
    expect(fault({ ...upgrade, headers: { origin: 'https://evil.test' } })).toBe('csrf_rejected')
    expect(fault({ ...upgrade, cookieDecides: true })).toBe('csrf_rejected')
    expect(fault({ ...upgrade, headers: { origin: own }, cookieDecides: true })).toBeNull()
    expect(fault({ ...upgrade })).toBeNull()
  })
})

describe('ATK-078 forms', () => {
  test.each([
    ['our own Origin', { origin: own }],
    ['our own Origin, whatever Sec-Fetch-Site says', { origin: own, 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site: same-origin', { 'sec-fetch-site': 'same-origin' }],
  ])('a form with %s passes', (_, headers) => {
    expect(fault({ form: true, headers, cookieDecides: true })).toBeNull()
    expect(fault({ form: true, headers })).toBeNull()
  })

  test.each([
    ['no evidence at all', {}],
    ['a trusted Origin, which must send JSON', { origin: trusted }],
    ['Origin null of our own page', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
    ['Sec-Fetch-Site: none', { 'sec-fetch-site': 'none' }],
    ['our Referer only', { referer: `${own}/auth/login` }],
  ])('ATK-078 a form with %s is refused', (_, headers) => {
    expect(fault({ form: true, headers })).toBe('csrf_rejected')
    expect(fault({ form: true, headers, cookieDecides: true })).toBe('csrf_rejected')
  })
})

test('in development every loopback alias of our own is our own', () => {
  const aliases = ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000']
  const rule = { ownOrigins: aliases, trustedOrigins: [] }
  const facts = { cookieDecides: true, form: true }
  for (const origin of aliases) {
    expect(originFault({ method: 'POST', headers: { origin }, rawHeaders: null }, rule, facts)).toBeNull()
  }
  const other = { method: 'POST', headers: { origin: 'http://localhost:3001' }, rawHeaders: null }
  expect(originFault(other, rule, facts)).toBe('csrf_rejected')
})
