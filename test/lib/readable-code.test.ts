import { describe, expect, test } from 'vitest'
import { canonicalCode, readableAlphabet, withoutGaps } from '../../src/lib/readable-code.js'

describe('readable codes', () => {
  test('have thirty-two characters, and none that looks like another', () => {
    expect(new Set(readableAlphabet).size).toBe(32)
    expect(readableAlphabet).toMatch(/^[0-9a-z]+$/)
    expect(readableAlphabet).not.toMatch(/[ilou]/)
  })

  test.each([
    ['7qxk0-mb4r1', '7qxk0mb4r1'],
    ['7QXK0-MB4R1', '7qxk0mb4r1'],
    [' 7qxk0 mb4r1\n', '7qxk0mb4r1'],
    ['7qxkO-mb4rl', '7qxk0mb4r1'],
    ['7qxko–mb4rI', '7qxk0mb4r1'],
    ['7-q-x-k-0-m-b-4-r-1', '7qxk0mb4r1'],
    ['7qxk0mb4r2', '7qxk0mb4r2'],
    ['', ''],
  ])('%j is read as %j', (typed, code) => {
    expect(canonicalCode(typed)).toBe(code)
  })

  test.each(['081424 ', '081 424', '081-424', '081–424', '\u00a0081\u202f424\n'])('%j is 081424', (typed) => {
    expect(withoutGaps(typed)).toBe('081424')
  })

  test('what is in the alphabet stays as it is', () => {
    expect(canonicalCode(readableAlphabet)).toBe(readableAlphabet)
  })
})
