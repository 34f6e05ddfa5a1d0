import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBase64urlReader } from '../../src/lib/base64url.js'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const longest = 200
const read = createBase64urlReader(longest)

/** What it stands for, if the bytes written anew are the same. */
function expected(text: string): string | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text && isUtf8(bytes) ? bytes.toString() : null
}

test('a text is read exactly if it is how base64url writes its bytes, and those are UTF-8', () => {
  const letter = fc.constantFrom(...alphabet)
  const odd = fc.constantFrom('+', '/', '=', ' ', '\n', '.', '\0', '\u00e9', '\u0141', '\ud83d\ude00', '\u0100')
  const texts = [
    fc.string({ unit: letter, maxLength: 30 }),
    fc.string({ unit: fc.oneof({ arbitrary: letter, weight: 8 }, odd), maxLength: 30 }),
    fc.string({ maxLength: 20 }),
    // Plain letters that V8 keeps in two bytes each.
    fc.string().map((text) => `\u0141${Buffer.from(text).toString('base64url')}`.slice(1)),
    fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text).toString('base64url')),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  ]
  fc.assert(
    fc.property(fc.oneof(...texts), (text) => {
      expect(read(text)).toBe(expected(text))
    }),
    { numRuns: 5_000 },
  )
})

test('every text of up to three letters is read as writing it anew tells', () => {
  const letters = [...alphabet, '+', '/', '=', '.']
  const wrong: string[] = []
  const see = (text: string) => read(text) === expected(text) || wrong.push(text)
  for (const first of ['', ...letters])
    for (const second of ['', ...letters]) for (const third of ['', ...letters]) see(first + second + third)
  expect(wrong).toEqual([])
})

test('the mark of what is no UTF-8 is read where it is meant', () => {
  expect(read(Buffer.from('a\ufffdb').toString('base64url'))).toBe('a\ufffdb')
  expect(read(Buffer.from([0x61, 0xff, 0x62]).toString('base64url'))).toBe(null)
  // UTF-8 has no surrogates (RFC 3629 §3) and no overlong forms.
  expect(read(Buffer.from([0xed, 0xa0, 0x80]).toString('base64url'))).toBe(null)
  expect(read(Buffer.from([0xc0, 0x80]).toString('base64url'))).toBe(null)
})

test('of a text nothing is left to the next, and none is cut short', () => {
  expect(read('A'.repeat(longest))).toBe('\0'.repeat(150))
  expect(read('QQ')).toBe('A')
  expect(read('')).toBe('')
  expect(read('A'.repeat(longest + 1))).toBe(null)
  expect(read('A'.repeat(longest + 4))).toBe(null)
})
