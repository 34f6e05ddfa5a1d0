import { describe, expect, test } from 'vitest'
import { defaultVariableLimits, variableFaults } from '../../../src/host/sealing/variables.js'

const faults = (name: string, value = 'v', present: readonly string[] = []) =>
  variableFaults({ name, value }, present).map(({ path }) => path)

describe('a variable', () => {
  test.each(['A', '_', 'jwt_secret', 'NODE_ENV', 'NODE', 'PATHS', 'MY_PATH', 'LD', 'LATCHKEY', `A${'b'.repeat(63)}`])(
    'may be named %s',
    (name) => {
      expect(faults(name)).toEqual([])
    },
  )

  test.each([
    '',
    '1A',
    'A-B',
    'A B',
    'A=B',
    'A\n',
    'Ä',
    `A${'b'.repeat(64)}`,
    'NODE_OPTIONS',
    'NODE_ENV_',
    'NODE_PATH',
    'NODE_EXTRA_CA_CERTS',
    'LD_PRELOAD',
    'PATH',
    'LATCHKEY_MASTER_KEY',
    '__proto__',
  ])('ATK-160 may not be named %j', (name) => {
    expect(faults(name)).toEqual(['name'])
  })

  test('has at most 32 KiB, counted in UTF-8', () => {
    expect(faults('A', 'x'.repeat(defaultVariableLimits.valueBytes))).toEqual([])
    expect(faults('A', 'x'.repeat(defaultVariableLimits.valueBytes + 1))).toEqual(['value'])
    expect(faults('A', 'ä'.repeat(defaultVariableLimits.valueBytes / 2))).toEqual([])
    expect(faults('A', 'ä'.repeat(defaultVariableLimits.valueBytes / 2 + 1))).toEqual(['value'])
  })

  test('holds what an environment can hold, unchanged', () => {
    expect(faults('A', '')).toEqual([])
    expect(faults('A', 'line\nline\ttab 🎉')).toEqual([])
    expect(faults('A', 'a\0b')).toEqual(['value'])
    expect(faults('A', 'a\ud800b')).toEqual(['value'])
  })

  test('is one of 100; one that is there may be set again', () => {
    const present = Array.from({ length: 100 }, (_, at) => `V${at}`)
    expect(faults('V3', 'v', present)).toEqual([])
    expect(faults('NEW', 'v', present)).toEqual(['name'])
    expect(faults('NEW', 'v', present.slice(1))).toEqual([])
  })

  test('is never shown by its fault', () => {
    const secret = `hunter2\0${'x'.repeat(40_000)}`
    expect(JSON.stringify(variableFaults({ name: '1', value: secret }, []))).not.toContain('hunter2')
  })
})
