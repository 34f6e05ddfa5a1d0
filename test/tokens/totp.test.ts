import { describe, expect, test } from 'vitest'
import { parseEmailAddress } from '../../src/lib/email-address.js'
import { createAuthenticator } from '../../src/tokens/totp.js'
import { hotpCode, secretBytes, totpCode } from '../support/totp.js'
import { readVectors } from '../support/vectors.js'

interface TotpVectors {
  secrets_base32: { SHA1: string }
  table: { time: number; step: number; algorithm: string; totp6: string }[]
  scenarios_sha1_6digits_30s: {
    id: string
    now: number
    code: unknown
    prior_used_step: number | null
    window: number
    expect: string
  }[]
  malformed_codes_all_rejected_without_500: unknown[]
  otpauth_uri: { issuer: string; account: string; secret?: string; expect?: string; must_not_contain?: string[] }[]
}

const totp = readVectors<TotpVectors>('totp-rfc6238')
const hotp = readVectors<{ secret_base32: string; rows: { counter: number; hotp6: string }[] }>('hotp-rfc4226')
const secret = totp.secrets_base32.SHA1
const authenticator = createAuthenticator()

describe('time-based codes', () => {
  test.each(hotp.rows)('the code of counter $counter of RFC 4226 is $hotp6', async ({ counter, hotp6 }) => {
    expect(hotpCode(secretBytes(hotp.secret_base32), counter)).toBe(hotp6)
    expect(await authenticator.stepOf(hotp.secret_base32, hotp6, null, counter * 30)).toBe(counter)
  })

  test.each(totp.table.filter(({ algorithm }) => algorithm === 'SHA1'))(
    'at $time the code of RFC 6238 ends in $totp6',
    async ({ time, step, totp6 }) => {
      expect(totpCode(secret, time * 1_000)).toBe(totp6)
      expect(await authenticator.stepOf(secret, totp6, null, time)).toBe(step)
    },
  )

  // A window of none is a stricter policy than ours: what it accepts, ours accepts.
  test.each(totp.scenarios_sha1_6digits_30s)('ATK-048 ATK-056 $id: $expect', async (scenario) => {
    const step = await authenticator.stepOf(secret, String(scenario.code), scenario.prior_used_step, scenario.now)
    if (scenario.expect === 'reject') expect(step).toBeNull()
    else expect(step).not.toBeNull()
  })

  test.each(totp.malformed_codes_all_rejected_without_500.filter((code) => typeof code === 'string'))(
    'a code like %j is of no step',
    async (code) => {
      expect(await authenticator.stepOf(secret, code, null, 1_234_567_890)).toBeNull()
    },
  )

  test('ATK-048 an accepted step is used up with every step before it, at any place of the window', async () => {
    const now = 1_700_000_010
    const current = Math.floor(now / 30)
    for (const used of [current - 2, current - 1, current, current + 1]) {
      for (const step of [current - 1, current, current + 1]) {
        const code = totpCode(secret, step * 30_000)
        const expected = step > used ? step : null
        expect(await authenticator.stepOf(secret, code, used, now), `${step - current} after ${used - current}`).toBe(
          expected,
        )
      }
    }
  })

  test('ATK-056 a clock that was put back makes no used step good again, and breaks nothing', async () => {
    const now = 1_700_000_010
    for (const ahead of [1, 2, 3, 1_000_000]) {
      const used = Math.floor(now / 30) + ahead
      expect(await authenticator.stepOf(secret, totpCode(secret, now * 1_000), used, now)).toBeNull()
    }
  })

  test('a secret has 160 random bits in base32', async () => {
    const secrets = await Promise.all(Array.from({ length: 50 }, () => authenticator.newSecret()))
    expect(new Set(secrets).size).toBe(50)
    expect(secrets.every((one) => /^[A-Z2-7]{32}$/.test(one))).toBe(true)
  })
})

describe('addresses for authenticator apps', () => {
  const [plain, hostile, colon] = totp.otpauth_uri

  test('name issuer, account and secret', async () => {
    const uri = await authenticator.uri({ issuer: plain?.issuer ?? '', account: plain?.account ?? '', secret })
    const [given, expected] = [new URL(uri), new URL(plain?.expect ?? '')]
    expect(given.href.split('?')[0]).toBe(expected.href.split('?')[0])
    const defaults = { algorithm: 'SHA1', digits: '6', period: '30' }
    expect({ ...defaults, ...Object.fromEntries(given.searchParams) }).toEqual(
      Object.fromEntries(expected.searchParams),
    )
  })

  test('cannot be changed by an issuer or account with marks in it', async () => {
    const uri = await authenticator.uri({ issuer: hostile?.issuer ?? '', account: hostile?.account ?? '', secret })
    for (const text of hostile?.must_not_contain ?? []) expect(uri).not.toContain(text)
    expect(new URL(uri).searchParams.get('secret')).toBe(secret)
    expect(new URL(uri).searchParams.get('issuer')).toBe(hostile?.issuer)
  })

  test('take no issuer and no account with a colon, which none of ours has', async () => {
    const { issuer, account } = colon ?? { issuer: '', account: '' }
    await expect(authenticator.uri({ issuer, account: 'ada@example.com', secret })).rejects.toThrow('colon')
    await expect(authenticator.uri({ issuer: 'Acme', account, secret })).rejects.toThrow('colon')
    expect(parseEmailAddress(account)).toBeNull()
  })

  test('are drawn as a QR code that needs nothing from elsewhere, also the longest', async () => {
    const issuer = '😀'.repeat(64)
    const account = `${'+'.repeat(64)}@${'a'.repeat(189)}`
    for (const uri of [
      await authenticator.uri({ issuer: 'Acme', account: 'ada@example.com', secret }),
      await authenticator.uri({ issuer, account, secret }),
    ]) {
      const picture = await authenticator.qrCode(uri)
      expect(picture).toMatch(/^data:image\/svg\+xml;base64,[\w+/]+=*$/)
      const svg = Buffer.from(picture.split(',')[1] ?? '', 'base64').toString()
      expect(svg).toMatch(/^<svg [^>]*viewBox="[^"]+"[^>]*><rect [^>]*\/><path [^>]*\/><\/svg>$/)
      expect(svg).not.toMatch(/script|href|url\(|style/)
    }
  })
})
