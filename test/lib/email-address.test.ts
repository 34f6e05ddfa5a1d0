import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseEmailAddress } from '../../src/lib/email-address.js'

interface Vectors {
  cases: { input: string; valid: boolean; canonical?: string; why: string }[]
  non_string_inputs_all_400: unknown[]
  same_account: [string, string][]
  different_accounts: [string, string][]
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../vectors/email-normalisation.json', import.meta.url), 'utf8'),
)
const canonical = (input: unknown) => parseEmailAddress(input)?.canonical ?? null

describe('email addresses', () => {
  test.each(vectors.cases.filter(({ valid }) => valid).map((entry, index) => ({ id: `valid ${index}`, ...entry })))(
    '$id: $input is an address ($why)',
    (entry) => {
      expect(parseEmailAddress(entry.input)).toEqual({ typed: entry.input, canonical: entry.canonical })
    },
  )

  test.each(vectors.cases.filter(({ valid }) => !valid).map((entry, index) => ({ id: `invalid ${index}`, ...entry })))(
    'ATK-045 $id: $input is refused ($why)',
    ({ input }) => {
      expect(parseEmailAddress(input)).toBeNull()
    },
  )

  test.each(vectors.non_string_inputs_all_400.map((input) => [input]))('%o is no address', (input) => {
    expect(parseEmailAddress(input)).toBeNull()
  })

  test.each(vectors.same_account)('%j and %j are one account', (left, right) => {
    expect(canonical(left)).not.toBeNull()
    expect(canonical(left)).toBe(canonical(right))
  })

  test.each(vectors.different_accounts)('ATK-014 %j and %j are never one account', (left, right) => {
    expect(canonical(left)).not.toBe(canonical(right))
  })

  test.each([
    ['"a@" + "a.".repeat(50000) + "!"', `a@${'a.'.repeat(50_000)}!`],
    ['"(".repeat(50000) + "@x.y"', `${'('.repeat(50_000)}@x.y`],
    ['"a".repeat(1e6) + "@example.com"', `${'a'.repeat(1e6)}@example.com`],
    ['an address behind a million spaces', `${' '.repeat(1e6)}a@b.co`],
  ])('%s is refused for its length alone', (_, input) => {
    expect(parseEmailAddress(input)).toBeNull()
  })

  test.each([
    ['alice@1.2.3.4', 'an IPv4 address'],
    ['alice@0x7f.1', 'UTS 46 makes it 127.0.0.1'],
    ['alice@example.123', 'a top-level domain of digits'],
    ['alice@b\u034f\u00fccher.example', 'a combining grapheme joiner disappears'],
    ['alice@ex\ufe0fample.com', 'a variation selector disappears'],
    ['alice@\u212aate.example', 'KELVIN SIGN becomes k'],
    ['alice@example\uff0ecom', 'a fullwidth dot'],
    ['alice@xn--.example', 'an empty A-label'],
    ['alice@xn--zzzzzzzzz99.example', 'no Punycode'],
    ['alice@xn--a.example', 'Punycode of a control character'],
    ['alice@xn--u-ccb.example', 'Punycode of a letter not in NFC'],
    ['alice@XN--ZZZZZZZZZ99.example', 'no Punycode, in capitals'],
    ['alice@xn--example-.com', 'an A-label for plain ASCII'],
    ['\u00a0alice@example.com', 'only ASCII spaces are trimmed'],
    ['\talice@example.com', 'a tab is no space'],
    [`${'a'.repeat(65)}@example.com`, 'a local part of 65 bytes'],
    [`alice@${'\u00fc'.repeat(60)}.${'\u00fc'.repeat(60)}.${'\u00fc'.repeat(60)}.example`, 'too long as A-labels'],
    [`${'a'.repeat(64)}@${`${'\u00fc'.repeat(10)}.`.repeat(11)}example`, 'too long together'],
  ])('%j is refused: %s', (input) => {
    expect(parseEmailAddress(input)).toBeNull()
  })

  test('spaces around are left out, everything else stays as typed', () => {
    expect(parseEmailAddress('  Alice@B\u00fccher.Example ')).toEqual({
      typed: 'Alice@B\u00fccher.Example',
      canonical: 'alice@xn--bcher-kva.example',
    })
  })

  test('a Greek final sigma means the same domain in both cases', () => {
    expect(canonical('a@\u039f\u03a3.example')).toBe(canonical('a@\u03bf\u03c3.example'))
    expect(canonical('a@\u03bf\u03c2.example')).not.toBe(canonical('a@\u03bf\u03c3.example'))
  })

  test('whatever comes in, the canonical form is short, plain ASCII and its own canonical form', () => {
    const word = fc.string({
      unit: fc.constantFrom(..."aZ0.-+_'\u00df\u00fc\u0131\u0301\u3002\uff41\u200b\u212a@ xn"),
      maxLength: 12,
    })
    const address = fc.tuple(word, word, word).map(([local, domain, top]) => `${local}@${domain}.${top}`)
    fc.assert(
      fc.property(fc.oneof(address, fc.emailAddress(), fc.string({ unit: 'binary' }), fc.anything()), (input) => {
        const result = canonical(input)
        if (result === null) return
        expect(result).toMatch(/^[\x21-\x7e]{5,254}$/)
        expect(result).not.toMatch(/[A-Z]/)
        expect(canonical(result)).toBe(result)
      }),
      { numRuns: 800 },
    )
  })
})
