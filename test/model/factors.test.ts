import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { hasFactor, sameFactors, twoFactorSince, usableFactors } from '../../src/model/factors/kinds.js'
import type { Totp } from '../../src/model/factors/totp.js'
import { factorMethods, provesFactor, withFactor, withoutFactor } from '../../src/model/second-factor.js'
import { parse, readSources, type Source } from '../support/house-source.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

function anApp(overrides: Partial<Totp> = {}): Totp {
  return { kind: 'totp', sealedSecret: 'key1.secret', lastStep: 100, enabledAt: 1000, ...overrides }
}

describe('the factors of an account', () => {
  test('say what the second step accepts, with backup codes last', () => {
    expect(factorMethods({ factors: [anApp()] })).toEqual(['totp', 'backup_code'])
    expect(factorMethods({ factors: [anApp(), anApp({ enabledAt: 2000 })] })).toEqual(['totp', 'backup_code'])
  })

  test('are on since the oldest of them is', () => {
    expect(twoFactorSince({ factors: [] })).toBeNull()
    expect(twoFactorSince({ factors: [anApp({ enabledAt: 2000 }), anApp()] })).toBe(1000)
  })

  test('are the same while no secret changes, whatever step was used last', () => {
    const [none, one] = [{ factors: [] }, { factors: [anApp()] }]
    expect(sameFactors(none, none)).toBe(true)
    expect(sameFactors(one, { factors: [anApp({ lastStep: 101 })] })).toBe(true)
    expect(sameFactors(one, { factors: [anApp({ sealedSecret: 'key1.other' })] })).toBe(false)
  })

  test('are others once one came or went', () => {
    const [none, one] = [{ factors: [] }, { factors: [anApp()] }]
    const two = { factors: [anApp(), anApp({ sealedSecret: 'key1.other' })] }
    expect(sameFactors(none, one)).toBe(false)
    expect(sameFactors(one, none)).toBe(false)
    expect(sameFactors(one, two)).toBe(false)
    expect(sameFactors(two, one)).toBe(false)
  })
})

describe('a passkey', () => {
  const passkey = { kind: 'passkey', id: 'one', rpId: 'example.test', enabledAt: 500 } as const

  test('asks for no second step by itself, and answers one that an authenticator app asks for', () => {
    expect(hasFactor({ factors: [passkey] })).toBe(false)
    expect(twoFactorSince({ factors: [passkey] })).toBeNull()
    expect(factorMethods({ factors: [passkey] })).toEqual(['passkey'])
    expect(hasFactor({ factors: [passkey, anApp()] })).toBe(true)
    expect(twoFactorSince({ factors: [passkey, anApp()] })).toBe(1000)
    expect(factorMethods({ factors: [passkey, anApp()] })).toEqual(['passkey', 'totp', 'backup_code'])
  })

  test('works for its own RP id alone, and an authenticator app for each', () => {
    const both = { factors: [passkey, anApp()] }
    expect(usableFactors(both, 'example.test')).toEqual(both.factors)
    expect(usableFactors(both, 'former.test')).toEqual([anApp()])
    expect(usableFactors(both, null)).toEqual([anApp()])
  })

  test('is another one once its id differs', () => {
    expect(sameFactors({ factors: [passkey] }, { factors: [{ ...passkey }] })).toBe(true)
    expect(sameFactors({ factors: [passkey] }, { factors: [{ ...passkey, id: 'two' }] })).toBe(false)
  })

  test('tells a session whether the authenticator verified the user', () => {
    const proof = { kind: 'passkey', id: 'one', seenCount: 0, signCount: 0, backedUp: true } as const
    expect(withFactor([], { ...proof, userVerified: true })).toEqual(['pop', 'user', 'mfa'])
    expect(withFactor(['pwd'], { ...proof, userVerified: false })).toEqual(['pwd', 'pop', 'mfa'])
  })
})

describe('a proof', () => {
  test('adds to a session what its kind is worth, once', () => {
    expect(withFactor(['pwd'], { kind: 'totp', step: 101 })).toEqual(['pwd', 'otp', 'mfa'])
    expect(withFactor(['otp'], { kind: 'totp', step: 101 })).toEqual(['otp', 'mfa'])
    expect(withFactor(['pwd'], { kind: 'backup_code', id: 'x' })).toEqual(['pwd', 'mfa'])
  })

  test('is what a session is asked for, until it is taken away', () => {
    const proved = withFactor(['pwd'], { kind: 'backup_code', id: 'x' })
    expect([provesFactor(proved), provesFactor(['pwd', 'otp'])]).toEqual([true, false])
    expect(withoutFactor(proved)).toEqual(['pwd'])
  })
})

describe('a kind of factor', () => {
  /** Files of the kind itself, and the tables that have one line a kind. */
  const places = [
    /^src\/model\/factors\//,
    /^src\/flows\/two-factor\/[a-z-]*totp[a-z-]*\.ts$/,
    /^src\/flows\/two-factor\/code-kinds\.ts$/,
    /^src\/routes\/two-factor\/totp\.ts$/,
    /^src\/routes\/index\.ts$/,
    /^src\/tokens\/totp\.ts$/,
    /^src\/store\/factor-columns\.ts$/,
    /^src\/store\/rows\.ts$/,
    /^src\/store\/sql\/keys-in-use\.ts$/,
    /^src\/store\/datastore\/keys-in-use\.ts$/,
    /^src\/store\/sql\/migrations\//,
    /^src\/templates\//,
    /^src\/wiring\/open\.ts$/,
  ]

  /** Not `requestOtp`. */
  const naming = (sources: readonly Source[]) =>
    sources.filter(({ path, text }) => /totp|Totp|TOTP/.test(`${path} ${text}`)).map(({ path }) => path)

  test('is named by its own files and one line in each table, by no other file', () => {
    const named = naming(readSources(root))
    expect(named.filter((path) => !places.some((place) => place.test(path)))).toEqual([])
    expect(places.filter((place) => !named.some((path) => place.test(path)))).toEqual([])
  })

  test.each(['user.totp === null', "import { confirmTotp } from './totp.js'", '/** Codes by TOTP. */'])(
    '«%s» names it',
    (text) => {
      expect(naming([parse('src/flows/session/sign-in.ts', text)])).toEqual(['src/flows/session/sign-in.ts'])
    },
  )

  test('is not named by a code that is asked for by mail', () => {
    expect(naming([parse('src/routes/otp/api.ts', 'export const requestOtpRoute = requestOtp')])).toEqual([])
  })
})
