import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { ada, attackServer, claimsOf, expectRefusal, heldTokens } from '../support/attack-server.js'
import { tokenSettings } from '../support/tokens.js'
import { readVectors } from '../support/vectors.js'
import { createForge } from './forge.js'

const settings = {
  JWT_ACCESS_TOKEN_SECRET: tokenSettings.accessSecrets[0],
  JWT_REFRESH_TOKEN_SECRET: tokenSettings.refreshSecrets[0],
}
/** One as node makes it, and one of an owner who lets headers of 8 MiB in, so that they reach us. */
const usual = await attackServer({ settings })
const generous = await attackServer({ settings, server: { maxHeaderSize: 8 << 20 } })
afterAll(() => Promise.all([usual.close(), generous.close()]))
beforeEach(() => {
  usual.calls.length = 0
  generous.calls.length = 0
})

const client = generous.client()
await client.signUp(ada)
const { access } = heldTokens(client)
const claims = claimsOf(access)
const forge = createForge(access)
const key = { alg: 'HS256', key: 'access_secret' }

function signed(header: string, extra: string): string {
  return forge.sign(header, `${JSON.stringify(claims).slice(0, -1)},${extra}}`, key)
}

function headerWith(extra: string): string {
  return `${forge.header.slice(0, -1)},${extra}}`
}

/** `generated` of jwt-attacks.json, each signed so that its size is the one thing wrong with it. */
const recipes: Readonly<Record<string, () => string>> = {
  'size/1MB-payload': () => signed(forge.header, `"x":"${'A'.repeat(1_048_576)}"`),
  'size/1M-dots': () => '.'.repeat(1_000_000),
  'size/deep-json-payload': () => signed(forge.header, `"a":${'['.repeat(100_000)}${']'.repeat(100_000)}`),
  'size/header-100KB': () => signed(headerWith(`"x":"${'A'.repeat(102_400)}"`), '"y":1'),
  'size/kid-100KB': () => signed(forge.header.replace(/"kid":"[^"]*"/, `"kid":"${'A'.repeat(102_400)}"`), '"y":1'),
  'size/many-claims': () => signed(forge.header, Array.from({ length: 50_000 }, (_, i) => `"c${i}":${i}`).join()),
}
/** JWKS and plain use: in other files. */
const elsewhere = ['flood/random-kid', 'replay/same-token-two-tabs']

describe('ATK-077 huge tokens', () => {
  test('ATK-077 every generated entry of the vectors has its recipe', () => {
    const { generated } = readVectors<{ generated: { id: string }[] }>('jwt-attacks')
    expect([...Object.keys(recipes), ...elsewhere].sort()).toEqual(generated.map(({ id }) => id).sort())
  })

  test('ATK-077 a token of ours with one more claim is accepted, so that the size is what decides below', async () => {
    const headers = { authorization: `Bearer ${signed(forge.header, '"x":"A"')}` }
    expect((await generous.ask('GET', '/api/secret', { headers })).status).toBe(200)
  })

  test.each(Object.entries(recipes))('ATK-077 %s is refused in a header, by node or by us', async (_id, make) => {
    const token = make()
    for (const line of [`Authorization: Bearer ${token}`, `Cookie: access-token=${token}`]) {
      const bytes = `GET /api/secret HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n`
      expectRefusal(await usual.raw(bytes), 431)
      expectRefusal(await generous.raw(bytes), 401)
    }
    expect([...usual.calls, ...generous.calls]).toEqual([])
  })

  test.each(Object.entries(recipes))('ATK-077 %s is refused as refresh token', async (_id, make) => {
    const token = make()
    const headers = { 'x-auth-mode': 'token' }
    expectRefusal(await generous.ask('POST', '/auth/refresh', { headers, body: { refreshToken: token } }), 400, 413)
    const cookie = { cookie: `refresh-token=${token}`, origin: generous.url }
    expectRefusal(await generous.ask('POST', '/auth/refresh', { headers: cookie }), 401)
  })

  test.each([4_096, 4_097, 60_000])('ATK-077 a refresh token of %i characters is refused', async (length) => {
    const body = { refreshToken: 'a'.repeat(length) }
    const answer = await generous.ask('POST', '/auth/refresh', { headers: { 'x-auth-mode': 'token' }, body })
    expectRefusal(answer, 400, 401)
  })
})
