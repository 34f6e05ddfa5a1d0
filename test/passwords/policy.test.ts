import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commonPasswords } from '../../src/passwords/common-passwords.js'
import { passwordFaults } from '../../src/passwords/policy.js'
import { readVectors } from '../support/vectors.js'

interface CommonPasswords {
  top_1000_any_length: string[]
  zxcvbn_min8: string[]
  extra_from_zxcvbn_ts_min8: string[]
}

const vectors = readVectors<CommonPasswords>('passwords-common')
const listed = [...vectors.top_1000_any_length, ...vectors.zxcvbn_min8, ...vectors.extra_from_zxcvbn_ts_min8].filter(
  (password) => password.length >= 8,
)

function faults(password: string, email = 'zoe@b.example', minLength = 8) {
  return passwordFaults(password, email, { minLength })
}

describe('length', () => {
  test.each([
    ['seven characters', 'xkqvbzj', ['too_short']],
    ['eight characters', 'xkqvbzjw', []],
    ['nothing', '', ['too_short']],
    ['eight emoji, which are sixteen UTF-16 units', '😀🦊🌵🚲🧊🎻🪁🐙', []],
    ['seven emoji', '😀🦊🌵🚲🧊🎻🪁', ['too_short']],
    ['seven letters typed with combining accents', 'xe\u0301kqe\u0301vb', ['too_short']],
    ['256 characters', 'xkqv'.repeat(64), []],
    ['257 characters', `${'xkqv'.repeat(64)}x`, ['too_long']],
    ['256 letters typed with combining accents', 'e\u0301k'.repeat(128), []],
    ['a megabyte', 'xkqv'.repeat(262_144), ['too_long']],
    ['64 emoji of four bytes', '😀🦊🌵🚲'.repeat(16), []],
  ])('%s', async (_name, password, expected) => {
    expect(await faults(password)).toEqual(expected)
  })

  test('the minimum comes from the settings', async () => {
    expect(await faults('xkqvbzjwyu', 'zoe@b.example', 10)).toEqual([])
    expect(await faults('xkqvbzjwy', 'zoe@b.example', 10)).toEqual(['too_short'])
    expect(await faults('xkqvbzjwyuxkqvbzjwyu', 'zoe@b.example', 21)).toEqual(['too_short'])
  })

  test('no kind of character is asked for', async () => {
    for (const password of [
      'only lower case words here',
      'ONLYCAPITALSWITHOUTSPACE',
      '83620174950318',
      '    tab\tand space    ',
    ]) {
      expect(await faults(password)).toEqual([])
    }
  })
})

describe('common passwords', () => {
  test('the shipped list holds exactly the 8 characters and more of its sources', () => {
    expect(commonPasswords).toBe(`\n${[...new Set(listed)].sort().join('\n')}\n`)
    expect(new Set(listed).size).toBe(17_959)
  })

  test('the 3,000 most common ones of 8 characters and more are refused (OWASP ASVS 5.0, 6.2.4)', async () => {
    const refused = await Promise.all(vectors.zxcvbn_min8.slice(0, 3_000).map((password) => faults(password)))
    expect(refused.filter((found) => !found.includes('common'))).toEqual([])
  })

  test.each([
    ['any case', 'PassWord1'],
    ['full-width letters', 'ｐａｓｓｗｏｒｄ'],
    ['one sign behind', 'sunshine!'],
    ['a year behind', 'Sunshine2024'],
    ['four signs behind', 'football#1!?'],
    ['an emoji behind', 'football⚽'],
    ['one character over and over', 'xxxxxxxxxxxx'],
    ['spaces only (P12)', '        '],
    ['an upward run', 'bcdefghijklm'],
    ['a downward run', 'zyxwvuts'],
    ['digits in order', '0123456789'],
  ])('%s: refused', async (_name, password) => {
    expect(await faults(password)).toContain('common')
  })

  test.each([
    ['a listed word within a sentence', 'no sunshine without rain'],
    ['a listed word with a word behind', 'sunshinekangaroo'],
    ['a listed word and five random digits', 'elephant73914'],
    ['two listed words on two lines', 'football\nsunshine'],
    ['72 times one letter (P1)', 'a'.repeat(72)],
    ['a piece of a listed word', 'ootballe'],
    ['the end of one listed word and the start of the next', `${commonPasswords.slice(5, 20)}`],
  ])('%s: allowed', async (_name, password) => {
    expect(await faults(password)).toEqual([])
  })

  test('a random password is never called common', async () => {
    const letters = fc.string({ minLength: 12, maxLength: 40, unit: fc.constantFrom(...'bcdfghjklmnpqrstvwxz') })
    await fc.assert(
      fc.asyncProperty(letters, async (password) => {
        fc.pre(new Set(password).size > 6)
        expect(await faults(password)).toEqual([])
      }),
    )
  })
})

describe('passwords like the address', () => {
  test.each([
    ['the address itself', 'zoe@b.example', 'zoe@b.example'],
    ['the local part', 'alice.cooper@b.example', 'Alice.Cooper'],
    ['the local part and more', 'alice@b.example', 'my-ALICE-77-kx'],
    ['the local part in full width', 'alice@b.example', 'ａｌｉｃｅ-77-kx'],
    ['the local part without its tag', 'alice+shop@b.example', 'alice-77-kxw'],
    ['the domain', 'zoe@acme.io', 'go.acme.io.go'],
    ['the name of the domain', 'zoe@mail.umbrella.example', 'umbrella-77-kx'],
  ])('%s: refused', async (_name, email, password) => {
    expect(await faults(password, email)).toEqual(['similar_to_email'])
  })

  test.each([
    ['a local part of three letters', 'zoe@b.example', 'zoetrope-kx-77'],
    ['a short label', 'zoe@mail.example', 'blackmailer-kx-77'],
    ['the top level', 'zoe@b.example', 'example-kx-77'],
    ['another address', 'alice@b.example', 'bob-is-not-here'],
    ['no address at all', '', 'bob-is-not-here'],
    ['a tag only', 'zoe+newsletter@b.example', 'news-letter-kx-77'],
  ])('%s: allowed', async (_name, email, password) => {
    expect(await faults(password, email)).toEqual([])
  })
})

test('several faults come in one order', async () => {
  expect(await faults('sunshine', 'sunshine@b.example', 10)).toEqual(['too_short', 'common', 'similar_to_email'])
})
