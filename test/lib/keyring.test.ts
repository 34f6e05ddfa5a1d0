import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKeyring } from '../../src/lib/keyring.js'

const secret = 'k7Qd2-first-secret-of-the-keyring-tests-0001'
const older = 'Zx81m-older-secret-of-the-keyring-tests-0002'
const keyring = createKeyring([secret])
const text = fc.string({ unit: 'binary' })

describe('keyring seals', () => {
  test('what was sealed opens again, whatever it is', () => {
    fc.assert(
      fc.property(text, text, text, (purpose, context, plain) => {
        expect(keyring.open(purpose, context, keyring.seal(purpose, context, plain))).toBe(plain)
      }),
    )
  })

  test('any flipped bit of a sealed text makes it worthless', () => {
    const sealed = keyring.seal('totp', 'user-1', 'JBSWY3DPEHPK3PXP')
    const [id = '', body = ''] = sealed.split('.')
    const bytes = Buffer.from(body, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(keyring.open('totp', 'user-1', `${id}.${changed.toString('base64url')}`)).toBeNull()
    }
    expect(keyring.open('totp', 'user-1', sealed)).toBe('JBSWY3DPEHPK3PXP')
  })

  test('any changed, added or lost character of a sealed text makes it worthless, another spelling of its bytes too', () => {
    for (const plain of ['a', 'ab', 'abc']) {
      const sealed = keyring.seal('outbox', 'mail', plain)
      for (let at = 0; at < sealed.length; at += 1) {
        for (const character of ['A', 'B', 'g', '-', '=', '.', ' ', '+', '']) {
          if (sealed[at] === character) continue
          const changed = sealed.slice(0, at) + character + sealed.slice(at + 1)
          expect(keyring.open('outbox', 'mail', changed), changed).toBeNull()
        }
      }
      for (const tail of ['A', '=', '==', '\n', '.', `.${sealed}`]) {
        expect(keyring.open('outbox', 'mail', sealed + tail)).toBeNull()
      }
    }
  })

  test('anything else opens as null and nothing throws', () => {
    fc.assert(
      fc.property(text, (garbage) => {
        expect(keyring.open('totp', 'user-1', garbage)).toBeNull()
        expect(keyring.open('totp', 'user-1', `${keyring.keyIds[0]}.${garbage}`)).toBeNull()
      }),
    )
  })

  test('a seal is worth nothing for another purpose or context', () => {
    fc.assert(
      fc.property(text, text, text, text, (purpose, context, otherPurpose, otherContext) => {
        fc.pre(purpose !== otherPurpose || context !== otherContext)
        expect(keyring.open(otherPurpose, otherContext, keyring.seal(purpose, context, 'plain'))).toBeNull()
      }),
    )
  })

  test('moving a character between purpose and context is a change', () => {
    const sealed = keyring.seal('ab', 'c', 'plain')
    expect(keyring.open('a', 'bc', sealed)).toBeNull()
    expect(keyring.open('abc', '', sealed)).toBeNull()
  })

  test('sealing the same twice gives two texts and two nonces', () => {
    const sealed = Array.from({ length: 1_000 }, () => keyring.seal('totp', 'user-1', 'same').split('.')[1] ?? '')
    const nonces = new Set(sealed.map((body) => body.slice(0, 16))) // 12 bytes are 16 characters
    expect(nonces.size).toBe(1_000)
  })
})

describe('keyring digests', () => {
  test('a digest depends on purpose, value and secret, and on nothing else', () => {
    fc.assert(
      fc.property(text, text, text, text, (purpose, value, otherPurpose, otherValue) => {
        fc.pre(purpose !== otherPurpose || value !== otherValue)
        expect(keyring.digest(purpose, value)).toBe(createKeyring([secret]).digest(purpose, value))
        expect(keyring.digest(otherPurpose, otherValue)).not.toBe(keyring.digest(purpose, value))
        expect(createKeyring([older]).digest(purpose, value)).not.toBe(keyring.digest(purpose, value))
      }),
    )
  })

  test('digests and seals stay what they are: stored rows depend on it', () => {
    // Computed apart from node:crypto's HKDF, with HMAC by hand (RFC 5869) and Python's cryptography.
    const sealed = 'eXqbG3DA.AAECAwQFBgcICQoLWIcr2dh31_OkUc82oVQbY2G1wRC_mcWa1072XhilwGQ'
    expect(keyring.digest('one-time-token', 'value')).toBe('eXqbG3DA.xD6F7PPEXfWCV0AegYPg6zbTtKsGnjyLEOQgc4FVeh4')
    expect(keyring.open('totp', 'user-1', sealed)).toBe('JBSWY3DPEHPK3PXP')
  })
})

describe('keyring rotation', () => {
  const rotated = createKeyring([secret, older])

  test('the first secret makes, all are read, newest first', () => {
    const before = createKeyring([older])
    expect(rotated.digests('reset', 'v')).toEqual([keyring.digest('reset', 'v'), before.digest('reset', 'v')])
    expect(rotated.digest('reset', 'v')).toBe(keyring.digest('reset', 'v'))
    expect(rotated.open('totp', 'u', before.seal('totp', 'u', 'seed'))).toBe('seed')
    expect(keyring.open('totp', 'u', rotated.seal('totp', 'u', 'seed'))).toBe('seed')
    expect(rotated.keyIds).toEqual([...keyring.keyIds, ...before.keyIds])
  })

  test('a seal whose secret is gone opens as null', () => {
    expect(createKeyring([older]).open('totp', 'u', keyring.seal('totp', 'u', 'seed'))).toBeNull()
  })

  test('a seal under the name of another key opens as null', () => {
    const body = keyring.seal('totp', 'u', 'seed').split('.')[1]
    expect(rotated.open('totp', 'u', `${rotated.keyIds[1]}.${body}`)).toBeNull()
  })

  test('a secret that is listed twice is one key', () => {
    expect(createKeyring([secret, older, secret]).keyIds).toEqual(rotated.keyIds)
  })

  test('without a secret there is no keyring', () => {
    expect(() => createKeyring([])).toThrow(TypeError)
  })

  test('a key id is 8 characters and no hash of the secret', () => {
    for (const id of rotated.keyIds) {
      expect(id).toMatch(/^[\w-]{8}$/)
      for (const algorithm of ['sha256', 'sha384', 'sha512', 'sha1', 'md5']) {
        expect(createHash(algorithm).update(secret).digest('base64url')).not.toContain(id)
      }
    }
  })
})
