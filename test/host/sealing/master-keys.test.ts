import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  newMasterKey,
  parseMasterKeys,
  requireMasterKeys,
  wrappingKeyOf,
} from '../../../src/host/sealing/master-keys.js'

const [first, second, third] = [newMasterKey(), newMasterKey(), newMasterKey()]
const dataKey = Buffer.alloc(32, 7)

describe('master keys', () => {
  test('are read one a line or as an array, blank lines and doubles left out', () => {
    const ids = parseMasterKeys([first, second]).ids
    expect(parseMasterKeys(`${first}\r\n\n  ${second}\n${first}\n`).ids).toEqual(ids)
    expect(new Set(ids).size).toBe(2)
  })

  test.each([
    ['', 'It holds no key'],
    ['\n \n', 'It holds no key'],
    ['changeme', 'Line 1 is not 32 bytes'],
    [`${first}\n${Buffer.alloc(31, 1).toString('base64')}`, 'Line 2 is not 32 bytes'],
    [Buffer.alloc(33, 1).toString('base64'), 'Line 1 is not 32 bytes'],
    [first.replace('=', ''), 'Line 1 is not 32 bytes'],
    [`${first}${second}`, 'Line 1 is not 32 bytes'],
  ])('%j is refused, and the error shows nothing of it', (text, message) => {
    const refused = () => parseMasterKeys(text)
    expect(refused).toThrow(message)
    for (const line of text.split('\n').filter((each) => each.trim() !== '')) expect(refused).not.toThrow(line)
  })

  test('the first wraps, and all of them unwrap', () => {
    const wrapped = parseMasterKeys([second]).wrap('s1', dataKey)
    const keys = parseMasterKeys([first, second])
    expect(keys.unwrap('s1', wrapped)).toEqual(dataKey)
    expect(wrappingKeyOf(keys.wrap('s1', dataKey))).toBe(keys.ids[0])
  })

  test('a missing key is named by its id, with the remedy', () => {
    const wrapped = parseMasterKeys([second]).wrap('s1', dataKey)
    const id = wrappingKeyOf(wrapped)
    const opened = () => parseMasterKeys([first]).unwrap('s1', wrapped)
    expect(opened).toThrow(`The master key ${id} is missing. Add its line`)
    expect(opened).toThrow(expect.objectContaining({ fault: 'master_key_missing', keyId: id }))
  })

  test('ATK-167 a start without a key that has wrapped a data key is refused, and names the id', () => {
    const keys = parseMasterKeys([first, second])
    expect(() => requireMasterKeys(keys, [...keys.ids, ...keys.ids])).not.toThrow()
    const [missing = ''] = parseMasterKeys([third]).ids
    expect(() => requireMasterKeys(keys, [...keys.ids, missing])).toThrow(`sealed under ${missing}; the given keys are`)
  })

  test('an id reveals nothing about its key: it is not a plain digest, and not part of the text', () => {
    const [id = ''] = parseMasterKeys(first).ids
    expect(id).toMatch(/^[\w-]{8}$/)
    const bytes = Buffer.from(first, 'base64')
    for (const algorithm of ['sha256', 'sha512', 'sha1', 'md5']) {
      for (const input of [first, bytes]) {
        expect(createHash(algorithm).update(input).digest('base64url')).not.toContain(id)
      }
    }
    expect(first).not.toContain(id)
  })

  test('ATK-167 a wrapped key opens for its space only, and not after a bit was flipped', () => {
    const keys = parseMasterKeys(first)
    const wrapped = keys.wrap('s1', dataKey)
    expect(() => keys.unwrap('s2', wrapped)).toThrow('belongs to another space')
    const [id, body = ''] = wrapped.split('.')
    const bytes = Buffer.from(body, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(() => keys.unwrap('s1', `${id}.${changed.toString('base64url')}`)).toThrow('does not open')
    }
  })

  test('ATK-167 garbage in a row is an error that does not repeat it', () => {
    const keys = parseMasterKeys(first)
    fc.assert(
      fc.property(fc.string({ minLength: 9 }), (garbage) => {
        expect(() => keys.unwrap('s1', garbage)).toThrow(expect.objectContaining({ name: 'SealingError' }))
        expect(() => keys.unwrap('s1', `!${garbage}.x`)).toThrow('The master key unknown is missing')
      }),
    )
  })
})
