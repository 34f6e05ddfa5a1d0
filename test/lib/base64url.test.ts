import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isCanonicalBase64url } from '../../src/lib/base64url.js'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** What it stands for: the bytes written anew. */
function expected(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text
}

function judged(text: string): boolean {
  return isCanonicalBase64url(text, Buffer.from(text, 'base64url').length)
}

test('a text of base64url is canonical exactly if its bytes have no other spelling', () => {
  const letter = fc.constantFrom(...alphabet)
  const odd = fc.constantFrom('+', '/', '=', ' ', '\n', '.', '\0', '\u00e9', '\u0141', '\ud83d\ude00', '\u0100')
  const texts = [
    fc.string({ unit: letter, maxLength: 30 }),
    fc.string({ unit: fc.oneof({ arbitrary: letter, weight: 8 }, odd), maxLength: 30 }),
    fc.string({ maxLength: 20 }),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  ]
  fc.assert(
    fc.property(fc.oneof(...texts), (text) => {
      expect(judged(text)).toBe(expected(text))
    }),
    { numRuns: 5_000 },
  )
})

test('every text of up to three letters is judged as writing it anew does', () => {
  const letters = [...alphabet, '+', '/', '=', '.']
  const wrong: string[] = []
  const see = (text: string) => judged(text) === expected(text) || wrong.push(text)
  for (const first of ['', ...letters])
    for (const second of ['', ...letters]) for (const third of ['', ...letters]) see(first + second + third)
  expect(wrong).toEqual([])
})
