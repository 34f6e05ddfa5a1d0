import { describe, expect, test } from 'vitest'
import { newKeyPair } from '../../src/testing/peer-desk.js'
import { readKeySet } from '../../src/tokens/key-set.js'
import { readVectors } from '../support/vectors.js'

interface KeyDocument {
  id: string
  body: unknown
  expect: string
}
const { documents } = readVectors<{ documents: KeyDocument[] }>('jwks-attacks')

function usable(body: unknown, kid: string | undefined = 'test-rsa-1'): number | undefined {
  return readKeySet(JSON.stringify(body), ['RS256'])?.matching('RS256', kid).length
}

describe('ATK-108 a key set', () => {
  const unsound = documents.filter(
    ({ expect: wanted, id }) => /^ignore|^key ignored|^reject$/.test(wanted) || id === 'alg-RS512',
  )

  test.each(unsound)('ATK-108 of $id has no usable key', ({ body }) => expect(usable(body)).toBe(0))

  test.each(documents.filter(({ expect: wanted }) => wanted === 'reject set'))('ATK-108 $id is none', ({ body }) => {
    expect(usable(body)).toBeUndefined()
  })

  test('ATK-108 the vectors are all there', () => expect(unsound.length).toBeGreaterThan(8))

  const rsa = (modulusLength: number, change: object = {}) => {
    const { publicKey } = newKeyPair('rsa', modulusLength)
    return { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'test-rsa-1', ...change }] }
  }
  test.each<[string, object, number]>([
    ['as long as it must be', rsa(2048), 1],
    ['too short', rsa(1024), 0],
    ['with the exponent 3', rsa(2048, { e: 'Aw' }), 1],
    ['with the exponent 1', rsa(2048, { e: 'AQ' }), 0],
    ['with an even exponent', rsa(2048, { e: 'BA' }), 0],
    ['with an exponent of five bytes', rsa(2048, { e: 'AQAAAAE' }), 0],
    ['for encryption', rsa(2048, { use: 'enc' }), 0],
    ['whose operations lack verify', rsa(2048, { key_ops: ['sign'] }), 0],
    ['that is private', rsa(2048, { d: 'AQAB' }), 0],
    ['with a key id that is no text', rsa(2048, { kid: ['test-rsa-1'] }), 0],
  ])('ATK-108 an RSA key %s', (_what, body, count) => expect(usable(body)).toBe(count))

  test('ATK-108 longer than 8192 bits costs nobody time', () => {
    const n = Buffer.alloc(2048, 0xff).toString('base64url')
    expect(usable({ keys: [{ kty: 'RSA', n, e: 'AQAB', kid: 'test-rsa-1' }] })).toBe(0)
  })

  test('each algorithm finds keys of its own kind alone', () => {
    const ec = (namedCurve: string) => newKeyPair(namedCurve).publicKey.export({ format: 'jwk' })
    const ed = newKeyPair('ed25519').publicKey.export({ format: 'jwk' })
    const keys = [rsa(2048).keys[0], ec('P-256'), ec('P-384'), ec('P-521'), ed, ec('secp256k1')]
    const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
    const set = readKeySet(JSON.stringify({ keys }), algorithms)
    for (const algorithm of algorithms) expect(set?.matching(algorithm, undefined), algorithm).toHaveLength(1)
    expect(readKeySet(JSON.stringify({ keys }), ['RS256'])?.matching('ES256', undefined)).toEqual([])
  })

  test('a token is tried with a few keys at most, and equal sets are equal in whatever order', () => {
    const keys = Array.from({ length: 5 }, () => rsa(2048).keys[0])
    expect(usable({ keys })).toBe(3)
    const print = (list: unknown[]) => readKeySet(JSON.stringify({ keys: list }), ['RS256'])?.fingerprint
    expect(print(keys)).toBe(print(keys.toReversed()))
    expect(print(keys)).not.toBe(print(keys.slice(1)))
    expect(print(keys)).not.toBe(print([...keys.slice(1), { ...keys[0], kid: 'other' }]))
  })
})
