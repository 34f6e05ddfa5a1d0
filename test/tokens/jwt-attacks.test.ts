import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createTokens } from '../../src/tokens/jwt.js'
import { accessClaims, refreshClaims, tokenSettings } from '../support/tokens.js'
import { readVectors } from '../support/vectors.js'

interface AttackToken {
  id: string
  verifier: string
  expect: string
  token: string
  clock?: number
  header_raw?: string
  payload_raw?: string
  sign?: { alg: string; key: string }
}

const vectors = readVectors<{ keys: Record<string, unknown>; tokens: AttackToken[] }>('jwt-attacks')
const attacks = vectors.tokens.filter(({ verifier }) => verifier === 'hs256' || verifier === 'both')
const control = attacks.find(({ id }) => id === 'control-hs256')

const tokens = createTokens(tokenSettings)
const ours = tokens.signAccess(accessClaims)
const [ourHeader = '', ourPayload = '', ourSignature = ''] = ours.split('.')
const [controlHeader = '', controlPayload = '', controlSignature = ''] = control?.token.split('.') ?? []

/** As the guard asks: a sound token whose `exp` lies ahead of the clock. */
function passes(token: string, clock = 1_700_000_000): boolean {
  const claims = tokens.checkAccess(token)
  return claims !== null && claims.exp > clock
}

function signWith(header: string, payload: string, { alg, key }: { alg: string; key: string }): string {
  const text = `${Buffer.from(header).toString('base64url')}.${Buffer.from(payload).toString('base64url')}`
  const named = vectors.keys[key]
  const secret = typeof named === 'string' ? named : JSON.parse(key.replace(/^literal /, ''))
  return `${text}.${createHmac(alg.replace('HS', 'sha'), secret).update(text).digest('base64url')}`
}

/** Puts the claims that we require before those of the attack, whose raw text stays as it is. */
function withOurClaims(raw: string): string {
  const { sub, iat, exp, ...required } = accessClaims
  return raw.replace(/^\{(?="|\})/, () => `{${JSON.stringify(required).slice(1, -1)}${raw === '{}' ? '' : ','}`)
}

/** The attack's header as close to ours as the attack allows: our kind and key where it does not name its own. */
function likeOurs(raw: string): string {
  const { typ, kid } = JSON.parse(Buffer.from(ourHeader, 'base64url').toString())
  return raw.replace('"typ":"JWT"', `"typ":"${typ}","kid":"${kid}"`)
}

describe('ATK-058 forged tokens', () => {
  test('the vectors are all there', () => {
    expect(attacks.length).toBeGreaterThan(130)
    expect(tokens.checkAccess(ours)).toEqual(accessClaims)
  })

  // Their header is not ours, so product.md lets even the positive controls fail.
  test.each(attacks)('ATK-058 $id is refused as it stands', ({ token, clock }) => {
    expect(passes(token, clock)).toBe(false)
    expect(tokens.checkRefresh(token)).toBeNull()
  })

  const headers = attacks.filter((attack) => attack.sign && attack.header_raw !== control?.header_raw)
  test.each(headers)('ATK-058 $id is refused with our claims, kind and key id', ({ header_raw, payload_raw, sign }) => {
    const header = likeOurs(header_raw ?? '')
    const signed = signWith(header, withOurClaims(payload_raw ?? ''), sign ?? { alg: 'HS256', key: 'access_secret' })
    expect(passes(signed)).toBe(false)
    expect(tokens.checkRefresh(signed)).toBeNull()
  })

  const structures = attacks.filter(({ sign, token }) => !sign && token.includes(controlHeader))
  test.each(structures)('ATK-058 $id is refused when done to a token of ours', ({ token }) => {
    const done = token
      .replaceAll(controlHeader, ourHeader)
      .replaceAll(controlPayload, ourPayload)
      .replaceAll(controlSignature, ourSignature)
    expect(done).not.toBe(ours)
    expect(passes(done)).toBe(false)
  })
})

describe('ATK-058 claims under our header and a sound signature', () => {
  /** Where the vector leaves the choice, or where product.md 4 has made another one. */
  const decided: Readonly<Record<string, boolean>> = {
    'payload-json/duplicate-sub': true, // JSON.parse takes the last; nobody but us can sign such a text
    'payload-json/duplicate-exp': true,
    'payload-json/constructor-prototype': true, // a claim that we do not know is left out
    'claims/exp-past-within-skew-30': false, // own tokens: no skew
    'claims/exp-float-future': false, // we never write a fraction
    'claims/exp-huge-1e300': false,
    'claims/exp-beyond-safe-int': false,
    'claims/exp-milliseconds': false,
    'claims/nbf-now': false, // we never write `nbf`
    'claims/iat-future': true, // the clock of another instance may be ahead
    'claims/iat-missing': false,
    'claims/iat-before-password-change': true, // `ver` and the change feed refuse it, not the check
    'claims/aud-array-ok': false, // `aud` is always one string
    'claims/jti-missing': true, // we have none: `sid` and `ctr` name a token
    'claims/extra-role-claim': true, // see below: `roles` are what our signature says
  }
  const sameHeader = attacks.filter(({ sign, header_raw }) => sign && header_raw === control?.header_raw)

  test.each(sameHeader)('ATK-058 $id ends as decided', ({ id, expect: wanted, payload_raw, sign, clock }) => {
    const header = Buffer.from(ourHeader, 'base64url').toString()
    const signed = signWith(header, withOurClaims(payload_raw ?? ''), sign ?? { alg: '', key: '' })
    expect(passes(signed, clock)).toBe(decided[id] ?? wanted === 'accept')
  })

  test('every decision belongs to a vector', () => {
    const ids = sameHeader.map(({ id }) => id)
    expect(Object.keys(decided).filter((id) => !ids.includes(id))).toEqual([])
  })
})

describe('ATK-058 published vectors', () => {
  interface WycheproofGroup {
    key: { kty?: string; k?: string }
    tests: { tcId: number; comment: string; jws: string }[]
  }
  const { groups } = readVectors<{ groups: WycheproofGroup[] }>('wycheproof-jws')
  const wycheproof = groups.flatMap(({ key, tests }) => tests.map((one) => ({ ...one, key })))

  test.each(wycheproof)('wycheproof $tcId $comment is refused', ({ jws, key }) => {
    expect(tokens.checkAccess(jws)).toBeNull()
    expect(withKey(key).checkAccess(jws)).toBeNull()
  })

  interface Example {
    id: string
    key: { k?: string } | null
    token?: string
    token_detached?: string
    json?: unknown
  }
  const { examples } = readVectors<{ examples: Example[] }>('rfc-jose-examples')

  test.each(examples)('$id is refused', ({ key, token, token_detached, json }) => {
    const texts = [token, token_detached, json && JSON.stringify(json)].filter((text) => typeof text === 'string')
    expect(texts).not.toEqual([])
    for (const text of texts) {
      expect(tokens.checkAccess(text)).toBeNull()
      expect(withKey(key ?? {}).checkAccess(text)).toBeNull()
      expect(withKey(key ?? {}).checkRefresh(text)).toBeNull()
    }
  })

  /** A verifier that has the vector's own HMAC secret as far as a text can hold it: even then the header is not ours. */
  function withKey({ k }: { k?: string }): typeof tokens {
    const secret = Buffer.from(k ?? 'none', 'base64url').toString('latin1')
    return createTokens({ ...tokenSettings, accessSecrets: [secret], refreshSecrets: [secret] })
  }
})

describe('ATK-059 kinds', () => {
  test.each(['at+jwt', 'id+jwt', 'JWT', 'otp+jwt', '2fa+jwt'])(
    'ATK-059 a token of kind %s under the refresh secret is no refresh token',
    (typ) => {
      const { kid } = JSON.parse(
        Buffer.from(tokens.signRefresh(refreshClaims).split('.')[0] ?? '', 'base64url').toString(),
      )
      const payload = JSON.stringify({ iss: tokenSettings.issuer, aud: tokenSettings.audience, ...refreshClaims })
      const sign = { alg: 'HS256', key: 'refresh_secret' }
      const sound = signWith(JSON.stringify({ alg: 'HS256', typ: 'rt+jwt', kid }), payload, sign)
      expect(tokens.checkRefresh(sound)).toEqual(refreshClaims)
      expect(tokens.checkRefresh(signWith(JSON.stringify({ alg: 'HS256', typ, kid }), payload, sign))).toBeNull()
    },
  )
})
