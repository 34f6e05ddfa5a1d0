import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { claimsOf, expectRefusal } from '../support/attack-server.js'
import { attackTokens, createForge, presentations, refreshPresentations, targetServer, vectorTime } from './forge.js'

const { server, access, refresh } = await targetServer()
afterAll(() => server.close())
beforeEach(() => {
  server.calls.length = 0
})

const forge = createForge(access)
const refreshForge = createForge(refresh)
const accessKey = { alg: 'HS256', key: 'access_secret' }
const refreshKey = { alg: 'HS256', key: 'refresh_secret' }

/** Statuses as bearer and as cookie. */
async function statusesOf(token: string): Promise<number[]> {
  const statuses: number[] = []
  for (const { bytes } of presentations(token)) {
    const answer = await server.raw(bytes)
    if (answer.status !== 200) expectRefusal(answer, 401)
    statuses.push(answer.status)
  }
  expect(server.calls).toHaveLength(statuses.filter((status) => status === 200).length)
  return statuses
}

async function expectNoRefresh(token: string): Promise<void> {
  for (const { bytes } of refreshPresentations(token)) expectRefusal(await server.raw(bytes), 400, 401)
}

describe('ATK-061 claims under our header and a sound signature', () => {
  /** Where the vector leaves the choice, or where product.md 4 or 7 has made another one. */
  const decided: Readonly<Record<string, boolean>> = {
    'payload-json/duplicate-sub': true, // the last counts; nobody but us can sign such a text
    'payload-json/duplicate-exp': true,
    'payload-json/constructor-prototype': true, // a claim that we do not know is left out
    'claims/exp-past-within-skew-30': false, // 4: every verifier pins; own tokens have no skew
    'claims/exp-float-future': false, // we never write a fraction
    'claims/exp-huge-1e300': false,
    'claims/exp-beyond-safe-int': false,
    'claims/exp-milliseconds': false,
    'claims/nbf-now': false, // 4 lists the claims: `nbf` is none of them
    'claims/iat-future': true, // 7: the clock of another instance may be ahead
    'claims/iat-missing': false,
    'claims/iat-before-password-change': false, // older than a lifetime: no token of ours lives longer than today's setting
    'claims/aud-array-ok': false, // 4: `aud` is always one string
    'claims/jti-missing': true, // 4: `sid` and `ctr` name a token
    'claims/extra-role-claim': true, // only `roles` counts, and that is what we signed
  }
  const controlHeader = attackTokens.find(({ id }) => id === 'control-hs256')?.header_raw
  const sameHeader = attackTokens.filter(({ sign, header_raw }) => sign && header_raw === controlHeader)

  test.each(sameHeader)('ATK-061 $id ends as decided', async ({ id, expect: wanted, payload_raw, sign, clock }) => {
    expect(clock ?? vectorTime).toBe(vectorTime)
    const token = forge.sign(forge.header, forge.claims(payload_raw ?? ''), sign ?? accessKey)
    const status = (decided[id] ?? wanted === 'accept') ? 200 : 401
    expect(await statusesOf(token)).toEqual([status, status])
  })

  test('ATK-061 every decision belongs to a vector', () => {
    const ids = sameHeader.map(({ id }) => id)
    expect(Object.keys(decided).filter((id) => !ids.includes(id))).toEqual([])
  })

  test('ATK-061 roles, rights and names beside our claims reach no principal', async () => {
    const extra = { ...claimsOf(access), role: 'ADMIN', isAdmin: true, scope: 'admin', kind: 'apiToken', userId: 'eve' }
    await statusesOf(forge.sign(forge.header, JSON.stringify(extra), accessKey))
    const { sub, roles } = claimsOf(access)
    for (const { principal } of server.calls) {
      expect(principal).toMatchObject({ kind: 'session', userId: sub, roles })
      expect(Object.keys(principal ?? {})).toHaveLength(9)
    }
  })

  test.each([
    ['one second before', 1, 200],
    ['exactly at', 0, 401],
    ['one second after', -1, 401],
  ])('ATK-061 a token is worth what its lifetime says %s its end', async (_when, secondsLeft, status) => {
    const claims = { ...claimsOf(access), exp: vectorTime + secondsLeft }
    expect(await statusesOf(forge.sign(forge.header, JSON.stringify(claims), accessKey))).toEqual([status, status])
  })

  test.each([
    ['behind', -60_000, 200],
    ['ahead', 60_000, 200],
    ['15 minutes ahead', 900_000, 401],
  ])('ATK-062 a clock that is %s its issuer neither lengthens nor breaks a lifetime', async (_where, step, status) => {
    server.runtime.clock.step(step)
    try {
      expect(await statusesOf(access)).toEqual([status, status])
    } finally {
      server.runtime.clock.step(-step)
    }
  })
})

describe('ATK-059 token kinds', () => {
  test('ATK-059 a refresh token opens no API and an access token refreshes nothing', async () => {
    expect(await statusesOf(refresh)).toEqual([401, 401])
    await expectNoRefresh(access)
    expect(await statusesOf(access)).toEqual([200, 200])
  })

  test.each(['JWT', 'rt+jwt', 'id+jwt', 'otp+jwt', '2fa+jwt', 'AT+JWT', 'application/at+jwt', ''])(
    'ATK-059 a token of kind "%s" under the access secret opens nothing',
    async (typ) => {
      const header = forge.header.replace('"at+jwt"', JSON.stringify(typ))
      const payload = JSON.stringify(claimsOf(access))
      expect(await statusesOf(forge.sign(header, payload, accessKey))).toEqual([401, 401])
    },
  )

  test.each(['JWT', 'at+jwt', 'id+jwt', 'RT+JWT', 'application/rt+jwt'])(
    'ATK-059 a token of kind "%s" under the refresh secret refreshes nothing',
    async (typ) => {
      const header = refreshForge.header.replace('"rt+jwt"', JSON.stringify(typ))
      await expectNoRefresh(refreshForge.sign(header, JSON.stringify(claimsOf(refresh)), refreshKey))
    },
  )

  test('ATK-060 claims of one kind under the other kind of secret are worth nothing', async () => {
    const payload = JSON.stringify(claimsOf(access))
    expect(await statusesOf(forge.sign(forge.header, payload, refreshKey))).toEqual([401, 401])
    expect(await statusesOf(forge.sign(refreshForge.header, payload, refreshKey))).toEqual([401, 401])
    await expectNoRefresh(refreshForge.sign(refreshForge.header, JSON.stringify(claimsOf(refresh)), accessKey))
    await expectNoRefresh(forge.sign(forge.header, JSON.stringify(claimsOf(refresh)), accessKey))
  })
})
