import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDuration } from '../../src/lib/duration.js'

describe('durations', () => {
  test.each([
    ['1s', 1],
    ['90s', 90],
    ['15m', 900],
    ['24h', 86_400],
    ['30d', 2_592_000],
    ['2w', 1_209_600],
    ['999999999w', 604_799_999_395_200],
  ])('%s is %i seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds)
  })

  test.each([
    ...[
      '',
      '100',
      '0s',
      '-1h',
      '+1h',
      '1.5h',
      '1e3s',
      '015m',
      '15 m',
      ' 15m',
      '15m ',
      '15m\n',
      '15M',
      '15min',
      '1y',
      '1ms',
    ],
    ...['1h30m', 'm', 'Infinity', 'NaNs', '0x1fs', '１５m', '1000000000s', `${'9'.repeat(1_000)}s`],
  ])('%j is no duration', (text) => {
    expect(parseDuration(text)).toBeNull()
  })

  test.each([[900], [null], [undefined], [true], [['15m']], [{ valueOf: () => '15m' }], [15n]])(
    '%o is no duration',
    (input) => {
      expect(parseDuration(input)).toBeNull()
    },
  )

  test('every whole number with a unit is that many of it', () => {
    const units = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 999_999_999 }), fc.constantFrom('s', 'm', 'h', 'd', 'w'), (count, unit) => {
        expect(parseDuration(`${count}${unit}`)).toBe(count * units[unit])
      }),
    )
  })

  test('anything at all is a positive whole number of seconds or null', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.string()), (input) => {
        const seconds = parseDuration(input)
        expect(seconds === null || (Number.isSafeInteger(seconds) && seconds > 0)).toBe(true)
      }),
    )
  })
})
