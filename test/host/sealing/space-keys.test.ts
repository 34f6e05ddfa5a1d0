import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newMasterKey, parseMasterKeys } from '../../../src/host/sealing/master-keys.js'
import { createSpaceKey, openSpaceKey } from '../../../src/host/sealing/space-keys.js'

const keys = parseMasterKeys(newMasterKey())
const row = createSpaceKey(keys, 'space-1')
const key = openSpaceKey(keys, row)
const text = fc.string({ unit: 'binary' })
const name = fc.string({ minLength: 1 })
const version = fc.nat()

describe('a data key', () => {
  test('opens what it has sealed, whatever it is, also when it is opened again from its row', () => {
    fc.assert(
      fc.property(name, version, text, (variable, number, value) => {
        const sealed = key.seal(variable, number, value)
        expect(openSpaceKey(keys, row).open(sealed)).toBe(value)
        expect(value === '' || !sealed.sealed.includes(value) || value.length < 4).toBe(true)
      }),
    )
  })

  test('seals the same value differently each time', () => {
    const sealed = Array.from({ length: 1000 }, () => key.seal('A', 1, 'value').sealed)
    expect(new Set(sealed).size).toBe(1000)
    // The nonce, by itself.
    expect(new Set(sealed.map((each) => each.slice(9, 25))).size).toBe(1000)
  })

  test('ATK-167 a flipped bit anywhere in nonce, ciphertext or tag is refused', () => {
    const { sealed } = key.seal('SECRET', 3, 'a value of some length')
    const [id, body = ''] = sealed.split('.')
    const bytes = Buffer.from(body, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const variable = { name: 'SECRET', version: 3, sealed: `${id}.${changed.toString('base64url')}` }
      expect(() => key.open(variable)).toThrow('SECRET does not open')
    }
  })

  test('ATK-167 a value moved to another name, version or space is refused', () => {
    fc.assert(
      fc.property(name, version, name, version, (variable, number, otherName, otherNumber) => {
        fc.pre(variable !== otherName || number !== otherNumber)
        const { sealed } = key.seal(variable, number, 'value')
        expect(() => key.open({ name: otherName, version: otherNumber, sealed })).toThrow('does not open')
      }),
    )
    // The same data key, as if its row had been copied with the value.
    const raw = keys.unwrap('space-1', row.wrapped)
    const elsewhere = openSpaceKey(keys, { space: 'space-2', wrapped: keys.wrap('space-2', raw) })
    expect(elsewhere.id).toBe(key.id)
    expect(() => elsewhere.open(key.seal('A', 1, 'value'))).toThrow('A does not open')
  })

  test('names and versions that read the same when joined are different contexts', () => {
    const { sealed } = key.seal('A1', 2, 'value')
    expect(() => key.open({ name: 'A', version: 12, sealed })).toThrow('does not open')
  })

  test('a value sealed under another data key names that key and how to set the value, and never shows it', () => {
    const other = openSpaceKey(keys, createSpaceKey(keys, 'space-1'))
    const variable = other.seal('TOKEN', 1, 'hunter2-hunter2')
    const opened = () => key.open(variable)
    expect(opened).toThrow(
      `TOKEN is sealed under the data key ${other.id}, which this space no longer has. Set it again: latchkey set-env TOKEN`,
    )
    expect(opened).toThrow(expect.objectContaining({ fault: 'data_key_missing', keyId: other.id }))
    expect(opened).not.toThrow('hunter2')
  })

  test('every space gets a data key of its own', () => {
    const ids = Array.from({ length: 100 }, () => openSpaceKey(keys, createSpaceKey(keys, 'space-1')).id)
    expect(new Set(ids).size).toBe(100)
  })
})
