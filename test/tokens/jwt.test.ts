import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createTokens, maxTokenLength } from '../../src/tokens/jwt.js'
import { accessClaims, refreshClaims, tokenSettings } from '../support/tokens.js'

const tokens = createTokens(tokenSettings)
const [accessSecret = ''] = tokenSettings.accessSecrets
const newSecret = 'another-secret-for-tests-only-0f1e2d3c4b5a69788796a5b4c3d2e1f0'

const wholePayload = JSON.stringify({ iss: tokenSettings.issuer, aud: tokenSettings.audience, ...accessClaims })

function headerOf(token: string): string {
  return Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString()
}

/** The payload's own bytes under the header of our access tokens, with a sound signature. */
function signBytes(payload: string | Uint8Array, secret = accessSecret): string {
  const [header] = tokens.signAccess(accessClaims).split('.')
  const text = `${header}.${Buffer.from(payload).toString('base64url')}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

function signPayload(changes: Readonly<Record<string, unknown>>): string {
  return signBytes(
    JSON.stringify({ iss: tokenSettings.issuer, aud: tokenSettings.audience, ...accessClaims, ...changes }),
  )
}

describe('our own tokens', () => {
  test('an access token gives back exactly its claims', () => {
    expect(tokens.checkAccess(tokens.signAccess(accessClaims))).toEqual(accessClaims)
  })

  test('a refresh token gives back exactly its claims', () => {
    expect(tokens.checkRefresh(tokens.signRefresh(refreshClaims))).toEqual(refreshClaims)
  })

  test('lists of one and the same word are one list, of the tokens that one reader has checked', () => {
    const read = (roles: string[], amr: string[]) => {
      const claims = tokens.checkAccess(tokens.signAccess({ ...accessClaims, roles, amr }))
      return [claims?.roles, claims?.amr]
    }
    const [roles, amr] = read(['USER'], ['pwd'])
    expect([roles, amr]).toEqual([['USER'], ['pwd']])
    expect(read(['USER'], ['pwd'])[0]).toBe(roles)
    expect(read(['pwd'], ['USER'])).toEqual([['pwd'], ['USER']])
    expect(read(['USER', 'ADMIN'], [])).toEqual([['USER', 'ADMIN'], []])
    expect(read(['toString'], ['__proto__'])).toEqual([['toString'], ['__proto__']])
    expect(read(['x'.repeat(300)], ['pwd'])[0]).toEqual(['x'.repeat(300)])
    expect(createTokens(tokenSettings).checkAccess(tokens.signAccess(accessClaims))?.amr).not.toBe(amr)
  })

  test('lists of claims are frozen, and claims of refresh tokens', () => {
    const several = tokens.checkAccess(tokens.signAccess({ ...accessClaims, roles: ['USER', 'ADMIN'], amr: [] }))
    expect([several?.roles, several?.amr].map(Object.isFrozen)).toEqual([true, true])
    const claims = tokens.checkAccess(tokens.signAccess(accessClaims))
    expect(Object.isFrozen(claims?.roles)).toBe(true)
    expect(Object.isFrozen(claims?.amr)).toBe(true)
    expect(Object.isFrozen(tokens.checkRefresh(tokens.signRefresh(refreshClaims)))).toBe(true)
  })

  test('signing leaves the lists it was given alone', () => {
    const roles = ['USER']
    tokens.signAccess({ ...accessClaims, roles })
    expect(Object.isFrozen(roles)).toBe(false)
  })

  test('the header says algorithm, kind and key, in these very bytes', () => {
    expect(headerOf(tokens.signAccess(accessClaims))).toMatch(/^\{"alg":"HS256","typ":"at\+jwt","kid":"[\w-]{8}"\}$/)
    expect(headerOf(tokens.signRefresh(refreshClaims))).toMatch(/^\{"alg":"HS256","typ":"rt\+jwt","kid":"[\w-]{8}"\}$/)
  })

  test('the key id depends on secret and kind, and is the same in every process', () => {
    const sameSecret = createTokens({ ...tokenSettings, refreshSecrets: tokenSettings.accessSecrets })
    const ids = [
      headerOf(tokens.signAccess(accessClaims)),
      headerOf(tokens.signRefresh(refreshClaims)),
      headerOf(sameSecret.signRefresh(refreshClaims)),
    ].map((header) => JSON.parse(header).kid)
    expect(new Set(ids).size).toBe(3)
    expect(ids[0]).toBe('vPGkXS05')
  })

  test('the same refresh claims give the same token byte for byte, in whatever order they are written', () => {
    const { sub, sid, ctr, iat, exp } = refreshClaims
    expect(createTokens(tokenSettings).signRefresh({ exp, iat, ctr, sid, sub })).toBe(tokens.signRefresh(refreshClaims))
  })

  test('an access token of a typical user stays under 600 bytes', () => {
    const typical = tokens.signAccess({
      ...accessClaims,
      email: 'alexandra.montgomery@engineering.example.com',
      email_proved: true,
      roles: ['USER', 'EDITOR'],
      amr: ['pwd', 'otp', 'mfa'],
      ctr: 1234,
    })
    expect(typical.length).toBeLessThan(600)
  })
})

describe('rotating secrets', () => {
  const rotated = createTokens({
    ...tokenSettings,
    accessSecrets: [newSecret, ...tokenSettings.accessSecrets],
    refreshSecrets: [`${newSecret}-refresh`, ...tokenSettings.refreshSecrets],
  })

  test('tokens of the older secret stay good', () => {
    expect(rotated.checkAccess(tokens.signAccess(accessClaims))).toEqual(accessClaims)
    expect(rotated.checkRefresh(tokens.signRefresh(refreshClaims))).toEqual(refreshClaims)
  })

  test('the first secret signs', () => {
    const alone = createTokens({ ...tokenSettings, accessSecrets: [newSecret] })
    expect(alone.checkAccess(rotated.signAccess(accessClaims))).toEqual(accessClaims)
    expect(tokens.checkAccess(rotated.signAccess(accessClaims))).toBeNull()
  })

  test('a header naming one key over a signature of the other is refused', () => {
    expect(rotated.checkAccess(signBytes(JSON.stringify(accessClaims), newSecret))).toBeNull()
  })

  test('without a secret there are no tokens', () => {
    expect(() => createTokens({ ...tokenSettings, accessSecrets: [] })).toThrow('no secret')
  })
})

describe('what is no token of ours', () => {
  test('ATK-059 a refresh token is no access token, nor the other way round', () => {
    expect(tokens.checkAccess(tokens.signRefresh(refreshClaims))).toBeNull()
    expect(tokens.checkRefresh(tokens.signAccess(accessClaims))).toBeNull()
  })

  test('ATK-060 kinds stay apart even when both secrets are equal', () => {
    const careless = createTokens({ ...tokenSettings, refreshSecrets: tokenSettings.accessSecrets })
    expect(careless.checkAccess(careless.signAccess(accessClaims))).toEqual(accessClaims)
    expect(careless.checkAccess(careless.signRefresh(refreshClaims))).toBeNull()
    expect(careless.checkRefresh(careless.signAccess(accessClaims))).toBeNull()
  })

  test.each([
    ['another issuer', { issuer: 'https://issuer.test.evil.test' }],
    ['another installation', { audience: 'test-app-2' }],
  ])('a token of %s is refused', (_, other) => {
    const foreign = createTokens({ ...tokenSettings, ...other })
    expect(tokens.checkAccess(foreign.signAccess(accessClaims))).toBeNull()
    expect(tokens.checkRefresh(foreign.signRefresh(refreshClaims))).toBeNull()
  })

  test('a token in its longest form passes, one character more does not', () => {
    const frame = signBytes('').length
    const room = Math.floor(((maxTokenLength - frame) * 3) / 4)
    const longest = signBytes(wholePayload.padEnd(room))
    expect(longest).toHaveLength(maxTokenLength)
    expect(tokens.checkAccess(longest)).toEqual(accessClaims)
    expect(tokens.checkAccess(signBytes(wholePayload.padEnd(room + 1)))).toBeNull()
  })

  test('a million dots and a megabyte of payload are refused', () => {
    expect(tokens.checkAccess('.'.repeat(1_000_000))).toBeNull()
    expect(tokens.checkAccess(signPayload({ x: 'A'.repeat(1_048_576) }))).toBeNull()
  })

  test('a look-alike of the signature in higher code points is refused', () => {
    const token = tokens.signAccess(accessClaims)
    const last = token.slice(-2, -1)
    const alike = `${token.slice(0, -2)}${String.fromCharCode(last.charCodeAt(0) + 0x100)}${token.slice(-1)}`
    expect(alike).toHaveLength(token.length)
    expect(tokens.checkAccess(alike)).toBeNull()
  })

  test('another spelling of the same signature bytes is refused', () => {
    const token = tokens.signAccess(accessClaims)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const other = alphabet[alphabet.indexOf(token.slice(-1)) ^ 1]
    const respelt = `${token.slice(0, -1)}${other}`
    expect(Buffer.from(respelt.slice(-43), 'base64url')).toEqual(Buffer.from(token.slice(-43), 'base64url'))
    expect(tokens.checkAccess(respelt)).toBeNull()
  })

  test.each([
    ['invalid UTF-8', Buffer.from(wholePayload.replace('alice', 'ÿ'), 'latin1')],
    ['a byte order mark', Buffer.from(`\ufeff${wholePayload}`)],
    ['UTF-16', Buffer.from(wholePayload, 'utf16le')],
    ['nothing', Buffer.alloc(0)],
  ])('a payload of %s is refused under a sound signature', (_, bytes) => {
    expect(tokens.checkAccess(signBytes(bytes))).toBeNull()
  })

  test('a payload text that is not canonical base64url is refused under a sound signature', () => {
    const [header, payload] = tokens.signAccess(accessClaims).split('.')
    const signed = (text: string) => `${text}.${createHmac('sha256', accessSecret).update(text).digest('base64url')}`
    expect(tokens.checkAccess(signed(`${header}.${payload}`))).toEqual(accessClaims)
    expect(tokens.checkAccess(signed(`${header}.${payload}=`))).toBeNull()
    expect(tokens.checkAccess(signed(`${header}.`))).toBeNull()
    expect(tokens.checkAccess(signed(`${header}`))).toBeNull()
  })

  test.each([0, 1, 2, 3])(
    'a further point is refused under a sound signature, with %i blanks in the payload',
    (blanks) => {
      const whole = signBytes(wholePayload + ' '.repeat(blanks))
      const [header = '', payload = ''] = whole.split('.')
      expect(tokens.checkAccess(whole)).toEqual(accessClaims)
      for (const text of [`.${payload}`, `${payload}.`, `${payload}..`, `${payload.slice(0, 9)}.${payload.slice(9)}`]) {
        const signed = `${header}.${text}`
        const signature = createHmac('sha256', accessSecret).update(signed).digest('base64url')
        expect(tokens.checkAccess(`${signed}.${signature}`)).toBeNull()
      }
    },
  )

  test('an id of 128 characters is good', () => {
    const claims = { ...accessClaims, sub: 'x'.repeat(128) }
    expect(tokens.checkAccess(tokens.signAccess(claims))).toEqual(claims)
  })
})

describe('claims', () => {
  test('ATK-061 an expired token still shows when it expired: expiry is the caller’s question', () => {
    const expired = { ...accessClaims, exp: 1 }
    expect(tokens.checkAccess(tokens.signAccess(expired))).toEqual(expired)
  })

  test('ATK-062 a token of an instance whose clock is ahead is good', () => {
    const ahead = { ...accessClaims, iat: 4_102_444_800, exp: 4_102_445_700 }
    expect(tokens.checkAccess(tokens.signAccess(ahead))).toEqual(ahead)
  })

  test.each(Object.keys({ iss: '', aud: '', ...accessClaims }))('a token without %s is refused', (claim) => {
    expect(tokens.checkAccess(signPayload({}))).toEqual(accessClaims)
    expect(tokens.checkAccess(signPayload({ [claim]: undefined }))).toBeNull()
  })

  const badTimes = [0, -1, 1.5, 1e300, 2 ** 53, 1_700_000_000_000, '1700000000', null, true, [1_700_000_000]]
  test.each(['auth_time', 'iat', 'exp'].flatMap((claim) => badTimes.map((value) => [claim, value] as const)))(
    'ATK-061 %s of %j is refused',
    (claim, value) => {
      expect(tokens.checkAccess(signPayload({ [claim]: value }))).toBeNull()
    },
  )

  test.each([
    ['iss', ['https://issuer.test']],
    ['aud', ['test-app']],
    ['aud', 'test-app '],
    ['sub', ''],
    ['sub', 'a b'],
    ['sub', 'a\u0000'],
    ['sub', 'é'],
    ['sub', '\ud800'],
    ['sub', 'x'.repeat(129)],
    ['sub', { $ne: null }],
    ['sid', 7],
    ['ctr', -1],
    ['ctr', 0.5],
    ['ctr', 1e300],
    ['ver', '2'],
    ['email', ''],
    ['email', ['alice@example.com']],
    ['email_verified', 'true'],
    ['email_verified', 1],
    ['email_proved', false],
    ['email_proved', 1],
    ['email_proved', null],
    ['roles', 'ADMIN'],
    ['roles', ['USER', 1]],
    ['roles', ['']],
    ['roles', { 0: 'ADMIN', length: 1 }],
    ['amr', null],
    ['nbf', 1],
    ['nbf', null],
  ])('%s of %j is refused', (claim, value) => {
    expect(tokens.checkAccess(signPayload({ [claim]: value }))).toBeNull()
  })

  test('a claim that we do not know is left out', () => {
    expect(tokens.checkAccess(signPayload({ isAdmin: true, scope: '*' }))).toEqual(accessClaims)
  })

  test('what a check would refuse is not signed', () => {
    expect(() => tokens.signAccess({ ...accessClaims, exp: 1.5 })).toThrow('access claims')
    expect(() => tokens.signRefresh({ ...refreshClaims, sid: '' })).toThrow('refresh claims')
    expect(() => tokens.signAccess({ ...accessClaims, roles: ['R'.repeat(4000)] })).toThrow('4096 characters')
  })
})
