import { expect, test } from 'vitest'
import { trimBlanks } from '../../src/lib/http-blanks.js'

test('only SP and HTAB at the ends go', () => {
  expect(trimBlanks(' \t a \t b\t ')).toBe('a \t b')
  expect(trimBlanks(' \t ')).toBe('')
  expect(trimBlanks('')).toBe('')
  for (const other of ['\xa0', '\u2003', '\ufeff', '\v', '\f', '\n', '\r', '\0', '\x85', '\u2028']) {
    expect(trimBlanks(` ${other}a${other}\t`)).toBe(`${other}a${other}`)
  }
})
