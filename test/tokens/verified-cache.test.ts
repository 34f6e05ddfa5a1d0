import { describe, expect, test } from 'vitest'
import { createTokens } from '../../src/tokens/jwt.js'
import { createVerifiedCache } from '../../src/tokens/verified-cache.js'
import { accessClaims, tokenSettings } from '../support/tokens.js'

const tokens = createTokens(tokenSettings)
const signed = (number: number): string => tokens.signAccess({ ...accessClaims, ctr: number })

describe('the cache of verified tokens', () => {
  test('hands back the very value for an equal text', () => {
    const cache = createVerifiedCache<object>()
    const value = { kind: 'session' }
    cache.set(signed(1), value)
    expect(cache.get(`Bearer ${signed(1)}`.slice(7))).toBe(value)
    expect(cache.get(signed(2))).toBeNull()
  })

  test('ATK-058 a token that shares only its signature with a verified one is unknown', () => {
    const cache = createVerifiedCache<object>()
    cache.set(signed(1), {})
    const [header, , signature] = signed(1).split('.')
    const [, otherPayload] = signed(2).split('.')
    expect(cache.get(`${header}.${otherPayload}.${signature}`)).toBeNull()
    expect(cache.get(String(signature))).toBeNull()
    expect(cache.get(` ${signed(1)}`)).toBeNull()
    expect(cache.get('')).toBeNull()
  })

  test('those that are not asked for go first', () => {
    const cache = createVerifiedCache<{ number: number }>(4)
    for (const number of [1, 2, 3, 4, 5, 6]) {
      cache.set(signed(number), { number })
      cache.get(signed(1))
    }
    expect([2, 1, 6].map((number) => cache.get(signed(number))?.number ?? null)).toEqual([null, 1, 6])
  })

  test('a hundred thousand distinct tokens leave no more than its size behind', () => {
    const cache = createVerifiedCache<object>(100)
    const texts = Array.from({ length: 100_000 }, (_, number) => String(number).padStart(500, '0'))
    for (const text of texts) cache.set(text, {})
    const kept = texts.toReversed().filter((text) => cache.get(text) !== null)
    expect(kept.length).toBeGreaterThanOrEqual(50)
    expect(kept.length).toBeLessThanOrEqual(100)
  })

  test('forgets everything when told', () => {
    const cache = createVerifiedCache<object>()
    cache.set(signed(1), {})
    cache.clear()
    expect(cache.get(signed(1))).toBeNull()
  })
})
