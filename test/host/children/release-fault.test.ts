import { expect, test } from 'vitest'
import { faultOfStart } from '../../../src/host/children/release-fault.js'

const bundle = '/data/spaces/x/releases/1/bundle.mjs'
const fault = (...errors: string[]) => {
  const { code, message, position } = faultOfStart({
    code: 'bundle_invalid',
    how: 'It ended.',
    errors,
    bundle,
    map: '',
  })
  return { code, message, position }
}
const of = (message: string, position: string | null = null) => ({ code: 'bundle_invalid', message, position })

test('the fault of a start is the first error that the process printed', () => {
  expect(fault()).toEqual(of('It ended.'))
  expect(fault('a text that was thrown', 'more')).toEqual(of('It ended. a text that was thrown'))
  expect(fault('a warning', 'TypeError: x is not a function', '    at f (node:fs:1:1)', 'Error: later')).toEqual(
    of('It ended. TypeError: x is not a function'),
  )
  expect(
    fault('file:///other.mjs:3', 'const x =', '         ^', '', 'SyntaxError: no', '    at g (node:vm:1:1)'),
  ).toEqual(of('It ended. SyntaxError: no'))
})

test('warnings of Node are no error of the release', () => {
  const warning = '(node:12) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.'
  const hint = '(Use `node --trace-deprecation ...` to show where the warning was created)'
  expect(fault(warning, hint)).toEqual(of('It ended.'))
  expect(fault(warning, hint, 'Error: no key', '    at f (node:fs:1:1)')).toEqual(of('It ended. Error: no key'))
})

test('no path of the host stands in it, and it is bounded', () => {
  const { message } = fault(`Error: ${'x'.repeat(10_000)}`, `    at file://${bundle}:1:1`)
  expect(message.length).toBeLessThanOrEqual(500)
  expect(fault(`Error: cannot read ${bundle}`).message).toBe('It ended. Error: cannot read bundle.mjs')
})
