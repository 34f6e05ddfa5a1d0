import { expect, test } from 'vitest'
import { isInRange } from '../../../src/wiring/doctor/process.js'

test.each([
  ['5.4.2', '^5.4.2 || ^6', true],
  ['5.4.1', '^5.4.2 || ^6', false],
  ['6.0.0', '^5.4.2 || ^6', true],
  ['7.0.0', '^5.4.2 || ^6', false],
  ['12.11.1', '>=11', true],
  ['10.9.9', '>=11', false],
  ['v22.12.0', '^20.19 || >=22.12', true],
  ['21.7.3', '^20.19 || >=22.12', false],
  ['2.2.1-beta.1', '^2', true],
  ['latest', '^2', false],
  ['2.0.0', 'next', false],
])('%s in %s: %s', (version, range, expected) => {
  expect(isInRange(version, range)).toBe(expected)
})
