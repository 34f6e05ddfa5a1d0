import fc from 'fast-check'
import jsonwebtoken from 'jsonwebtoken'
import { describe, expect, test } from 'vitest'
import type { AccessClaims, RefreshClaims } from '../../src/tokens/access-tokens.js'
import { createTokens } from '../../src/tokens/jwt.js'
import { accessClaims, refreshClaims, tokenSettings } from '../support/tokens.js'

const tokens = createTokens(tokenSettings)
const [accessSecret = ''] = tokenSettings.accessSecrets
const [refreshSecret = ''] = tokenSettings.refreshSecrets
const parties = { issuer: tokenSettings.issuer, audience: tokenSettings.audience }

const id = fc.stringMatching(/^[\w-]{1,32}$/)
const count = fc.nat()
const time = fc.integer({ min: 1, max: 253_402_300_799 })
const text = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
const texts = fc.array(text, { maxLength: 4 })

const anyAccess: fc.Arbitrary<AccessClaims> = fc.record({
  ...{ sub: id, sid: id, ctr: count, ver: count, email: text, email_verified: fc.boolean(), roles: texts, amr: texts },
  ...{ auth_time: time, iat: time, exp: time },
})
const anyRefresh: fc.Arbitrary<RefreshClaims> = fc.record({ sub: id, sid: id, ctr: count, iat: time, exp: time })

function headerOf(token: string): jsonwebtoken.JwtHeader {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
}

describe('jsonwebtoken as oracle', () => {
  test('what we sign, jsonwebtoken verifies', () => {
    fc.assert(
      fc.property(anyAccess, anyRefresh, (access, refresh) => {
        const options = { algorithms: ['HS256' as const], ...parties, ignoreExpiration: true }
        const parts = { iss: parties.issuer, aud: parties.audience }
        expect(jsonwebtoken.verify(tokens.signAccess(access), accessSecret, options)).toEqual({ ...access, ...parts })
        expect(jsonwebtoken.verify(tokens.signRefresh(refresh), refreshSecret, options)).toEqual({
          ...refresh,
          ...parts,
        })
      }),
    )
  })

  test('what jsonwebtoken signs under our header, we accept', () => {
    const accessHeader = headerOf(tokens.signAccess(accessClaims))
    const refreshHeader = headerOf(tokens.signRefresh(refreshClaims))
    fc.assert(
      fc.property(anyAccess, anyRefresh, (access, refresh) => {
        const byOthers = jsonwebtoken.sign(access, accessSecret, { ...parties, header: accessHeader })
        expect(tokens.checkAccess(byOthers)).toEqual(access)
        const refreshByOthers = jsonwebtoken.sign(refresh, refreshSecret, { ...parties, header: refreshHeader })
        expect(tokens.checkRefresh(refreshByOthers)).toEqual(refresh)
      }),
    )
  })

  test('our reading of any payload under our header agrees with jsonwebtoken, or is stricter', () => {
    const header = headerOf(tokens.signAccess(accessClaims))
    const changes = fc.dictionary(fc.constantFrom(...Object.keys(accessClaims), 'extra'), fc.jsonValue(), {
      maxKeys: 2,
    })
    fc.assert(
      fc.property(changes, (changed) => {
        const token = jsonwebtoken.sign(
          JSON.stringify({ iss: parties.issuer, aud: parties.audience, ...accessClaims, ...changed }),
          accessSecret,
          { header },
        )
        const mine = tokens.checkAccess(token)
        if (mine === null) return
        const theirs = jsonwebtoken.verify(token, accessSecret, {
          algorithms: ['HS256'],
          ...parties,
          ignoreExpiration: true,
        })
        expect(theirs).toMatchObject({ ...mine })
      }),
    )
  })
})

describe('ATK-058 mutations', () => {
  const token = tokens.signAccess(accessClaims)
  const otherToken = tokens.signAccess({ ...accessClaims, roles: ['ADMIN'] })
  const refreshToken = tokens.signRefresh(refreshClaims)

  const place = fc.nat({ max: token.length })
  const piece = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.string({ maxLength: 2, unit: 'binary' }),
    fc.constantFrom('.', '=', ' ', '\n', '\u0000', 'A', '-', '_'),
  )
  const edit = fc.record({ at: place, remove: fc.nat({ max: 4 }), insert: piece })

  test('a token changed anywhere never passes', () => {
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        const changed = edits.reduce(
          (kept, { at, remove, insert }) => kept.slice(0, at) + insert + kept.slice(at + remove),
          token,
        )
        expect(tokens.checkAccess(changed)).toEqual(changed === token ? accessClaims : null)
        expect(tokens.checkRefresh(changed)).toBeNull()
      }),
      { numRuns: 3000 },
    )
  })

  test('a token pieced together from parts of others never passes', () => {
    const whole = [token, otherToken, refreshToken]
    const part = fc.constantFrom(...whole.flatMap((text) => text.split('.')), '', 'e30')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const joined = parts.join('.')
        expect(tokens.checkAccess(joined) !== null).toBe(joined === token || joined === otherToken)
        expect(tokens.checkRefresh(joined) !== null).toBe(joined === refreshToken)
      }),
      { numRuns: 3000 },
    )
  })

  test('any text at all is refused without a throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (one, two) => {
        expect(tokens.checkAccess(one)).toBeNull()
        expect(tokens.checkRefresh(`${two}.${one}.${two}`)).toBeNull()
      }),
      { numRuns: 500 },
    )
  })
})
