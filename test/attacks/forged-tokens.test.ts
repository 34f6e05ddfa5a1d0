import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { expectRefusal } from '../support/attack-server.js'
import { readVectors } from '../support/vectors.js'
import { attackTokens, createForge, presentations, refreshPresentations, targetServer } from './forge.js'

const { server, access } = await targetServer()
afterAll(() => server.close())
beforeEach(() => {
  server.calls.length = 0
})

const forge = createForge(access)
const control = attackTokens.find(({ id }) => id === 'control-hs256')
const [controlHeader = '', controlPayload = '', controlSignature = ''] = control?.token.split('.') ?? []
const [ourHeader = '', ourPayload = '', ourSignature = ''] = access.split('.')
const hs256 = { alg: 'HS256', key: 'access_secret' }

/** Refused in the header of an app and in the cookie of a browser, and no handler ran. */
async function expectRefused(token: string): Promise<void> {
  for (const { bytes } of presentations(token)) expectRefusal(await server.raw(bytes), 400, 401)
  expect(server.calls).toEqual([])
}

async function expectNoRefresh(token: string): Promise<void> {
  for (const { bytes } of refreshPresentations(token)) expectRefusal(await server.raw(bytes), 400, 401)
}

describe('ATK-058 forged tokens over HTTP', () => {
  test('ATK-058 the forge makes sound tokens, so a refusal below is due to what was done to them', async () => {
    const claims = {
      iss: 'https://issuer.test',
      aud: 'test-app',
      sub: 'user-1',
      iat: 1_699_999_940,
      exp: 4_102_444_800,
    }
    const token = forge.sign(forge.header, forge.claims(JSON.stringify(claims)), hs256)
    for (const { bytes } of presentations(token)) expect((await server.raw(bytes)).status).toBe(200)
    expect(server.calls.map(({ principal }) => principal)).toMatchObject([{ userId: 'user-1' }, { userId: 'user-1' }])
    expect(attackTokens.length).toBeGreaterThan(130)
  })

  // Product.md 4: only the exact header texts that we write are accepted, so that even the positive controls fail.
  test.each(attackTokens)('ATK-058 $id is refused as it stands', async ({ token }) => {
    await expectRefused(token)
    await expectNoRefresh(token)
  })

  const headers = attackTokens.filter((attack) => attack.sign && attack.header_raw !== control?.header_raw)
  test.each(headers)('ATK-058 $id is refused with our claims, kind and key id', async (attack) => {
    const header = forge.likeOurs(attack.header_raw ?? '')
    await expectRefused(forge.sign(header, forge.claims(attack.payload_raw ?? ''), attack.sign ?? hs256))
  })

  const structures = attackTokens.filter(({ sign, token }) => !sign && token.includes(controlHeader))
  test.each(structures.filter(({ id }) => id !== 'structure/tab-start'))(
    'ATK-058 $id is refused when done to a live token of ours',
    async ({ token }) => {
      const done = token
        .replaceAll(controlHeader, ourHeader)
        .replaceAll(controlPayload, ourPayload)
        .replaceAll(controlSignature, ourSignature)
      expect(done).not.toBe(access)
      await expectRefused(done)
    },
  )

  test('ATK-058 structure/tab-start is no part of a token, and in a Cookie header no part of a value', async () => {
    const [bearer, cookie] = presentations(`\t${access}`)
    expectRefusal(await server.raw(bearer?.bytes ?? ''), 401)
    // RFC 6265bis §5.6 trims SP and HTAB around a value, and so does `readCookie`: the token inside is the very one.
    expect((await server.raw(cookie?.bytes ?? '')).status).toBe(200)
  })
})

describe('ATK-058 published vectors over HTTP', () => {
  const { groups } = readVectors<{ groups: { tests: { tcId: number; comment: string; jws: string }[] }[] }>(
    'wycheproof-jws',
  )
  test.each(groups.flatMap(({ tests }) => tests))('ATK-058 wycheproof $tcId $comment is refused', async ({ jws }) => {
    await expectRefused(jws)
  })

  interface Example {
    id: string
    token?: string
    token_detached?: string
    json?: unknown
  }
  const { examples } = readVectors<{ examples: Example[] }>('rfc-jose-examples')
  test.each(examples)('ATK-058 $id is refused', async ({ token, token_detached, json }) => {
    const texts = [token, token_detached, json && JSON.stringify(json)].filter((text) => typeof text === 'string')
    expect(texts).not.toEqual([])
    for (const text of texts) {
      await expectRefused(text)
      await expectNoRefresh(text)
    }
  })
})
