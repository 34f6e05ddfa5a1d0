import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newMasterKey, parseMasterKeys, wrappingKeyOf } from '../../../src/host/sealing/master-keys.js'
import { createSpaceKey, openSpaceKey, reseal, rewrap } from '../../../src/host/sealing/space-keys.js'

const [newer, older, lost] = [newMasterKey(), newMasterKey(), newMasterKey()]
const both = parseMasterKeys([newer, older])
const former = parseMasterKeys(older)

describe('rotation of the master key', () => {
  test('wraps every data key under the first key, and the values open without the old one', () => {
    const rows = ['a', 'b', 'c'].map((space) => createSpaceKey(former, space))
    const values = rows.map((row) => openSpaceKey(former, row).seal('KEY', 1, `value of ${row.space}`))
    const wrapped = rewrap(both, rows)
    expect(wrapped.map((row) => wrappingKeyOf(row.wrapped))).toEqual([both.ids[0], both.ids[0], both.ids[0]])
    const alone = parseMasterKeys(newer)
    const opened = wrapped.map((row, at) =>
      openSpaceKey(alone, row).open(values[at] ?? { name: '', version: 0, sealed: '' }),
    )
    expect(opened).toEqual(['value of a', 'value of b', 'value of c'])
  })

  test('returns only rows that change, so a second run does nothing', () => {
    const rows = [createSpaceKey(former, 'a'), createSpaceKey(both, 'b')]
    const changed = rewrap(both, rows)
    expect(changed.map(({ space }) => space)).toEqual(['a'])
    expect(rewrap(both, changed)).toEqual([])
  })

  test('cut off at any row, both keys still open everything', () => {
    fc.assert(
      fc.property(fc.array(fc.uuid(), { minLength: 1, maxLength: 8 }), fc.nat(8), (spaces, written) => {
        const rows = spaces.map((space) => createSpaceKey(former, space))
        const mixed = [...rewrap(both, rows).slice(0, written), ...rows.slice(written)]
        for (const row of mixed) expect(() => openSpaceKey(both, row)).not.toThrow()
      }),
      { numRuns: 30 },
    )
  })

  test('with a missing key it names the key and returns nothing', () => {
    const foreign = createSpaceKey(parseMasterKeys(lost), 'z')
    expect(() => rewrap(both, [createSpaceKey(former, 'a'), foreign])).toThrow(
      `The master key ${wrappingKeyOf(foreign.wrapped)} is missing`,
    )
  })
})

describe('deep rotation', () => {
  test('gives a new data key, and every value as it was under its name and version', () => {
    const row = createSpaceKey(former, 'a')
    const key = openSpaceKey(former, row)
    const values = [key.seal('ONE', 1, 'first'), key.seal('TWO', 7, '')]
    const { key: nextRow, variables } = reseal(both, row, values)
    const next = openSpaceKey(parseMasterKeys(newer), nextRow)
    expect(next.id).not.toBe(key.id)
    expect(variables.map(({ name, version }) => [name, version])).toEqual([
      ['ONE', 1],
      ['TWO', 7],
    ])
    expect(variables.map((variable) => next.open(variable))).toEqual(['first', ''])
    expect(() => key.open(variables[0] ?? values[0] ?? { name: '', version: 0, sealed: '' })).toThrow('no longer has')
  })

  test('stops at a value that does not open, and names it', () => {
    const row = createSpaceKey(former, 'a')
    const moved = { ...openSpaceKey(former, row).seal('ONE', 1, 'first'), name: 'TWO' }
    expect(() => reseal(both, row, [moved])).toThrow('TWO does not open')
  })
})
