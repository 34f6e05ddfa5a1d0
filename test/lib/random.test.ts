import { describe, expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.js'
import { readableAlphabet } from '../../src/lib/readable-code.js'

const random = createRandom()
const draws = Array.from({ length: 10_000 }, (_, index) => index)

/** Chi-square of ten equally likely digits; 9 degrees of freedom, above 44.8 once in a million (p = 1e-6). */
function chiSquare(digits: readonly string[], alphabet = '0123456789'): number {
  const expected = digits.length / alphabet.length
  return [...alphabet]
    .map((character) => digits.filter((found) => found === character).length)
    .map((count) => (count - expected) ** 2 / expected)
    .reduce((sum, part) => sum + part, 0)
}

describe('random', () => {
  test('ATK-047 the digits of 10,000 codes are even at every place', () => {
    const codes = draws.map(() => random.code(6))
    for (let place = 0; place < 6; place += 1) {
      expect(chiSquare(codes.map((code) => code[place] ?? ''))).toBeLessThan(44.8)
    }
  })

  test('ATK-047 half a million digits show no modulo bias, which a byte modulo ten does', () => {
    const digits = draws.flatMap(() => [...random.code(50)])
    expect(chiSquare(digits)).toBeLessThan(44.8)
    expect(chiSquare(digits.map((_, index) => String((index % 256) % 10)))).toBeGreaterThan(44.8)
  })

  test('ATK-047 codes keep their leading zeros', () => {
    const codes = draws.map(() => random.code(6))
    expect(codes.every((code) => /^\d{6}$/.test(code))).toBe(true)
    expect(codes.some((code) => code.startsWith('0'))).toBe(true)
  })

  test('ATK-047 the characters of readable codes are even, and no code comes twice', () => {
    const codes = draws.map(() => random.readable(10))
    expect(new Set(codes).size).toBe(draws.length)
    // 31 degrees of freedom: above 88.7 once in ten million.
    expect(chiSquare([...codes.join('')], readableAlphabet)).toBeLessThan(88.7)
  })

  test('ATK-047 no token or id comes twice, and every bit of them is drawn', () => {
    const tokens = new Set(draws.map(() => random.token()))
    const ids = new Set(draws.map(() => random.id()))
    expect(tokens.size).toBe(draws.length)
    expect(ids.size).toBe(draws.length)
    expect([...tokens].every((token) => /^[\w-]{43}$/.test(token))).toBe(true)
    expect([...ids].every((id) => /^[\w-]{22}$/.test(id))).toBe(true)
    expect(setBits([...tokens], 32)).toEqual(Buffer.alloc(32, 0xff))
    expect(setBits([...ids], 16)).toEqual(Buffer.alloc(16, 0xff))
  })

  test('no id begins like an option of the tool', () => {
    expect(draws.map(() => random.id()).filter((id) => id.startsWith('-'))).toEqual([])
  })

  test.each([0, -1, 1.5, Number.NaN])('a code of %d digits is refused', (digits) => {
    expect(() => random.code(digits)).toThrow(RangeError)
    expect(() => random.readable(digits)).toThrow(RangeError)
  })

  test('jitter lies in [0, 1) and spreads', () => {
    const jitters = draws.map(() => random.jitter())
    expect(Math.min(...jitters)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...jitters)).toBeLessThan(1)
    expect(chiSquare(jitters.map((jitter) => String(Math.floor(jitter * 10))))).toBeLessThan(44.8)
  })
})

/** Every bit that is set in at least one of them. */
function setBits(texts: readonly string[], bytes: number): Buffer {
  const seen = Buffer.alloc(bytes)
  for (const text of texts) {
    for (const [index, byte] of Buffer.from(text, 'base64url').entries()) seen[index] = (seen[index] ?? 0) | byte
  }
  return seen
}
