import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { diagnosed } from '../../support/doctor.js'
import { startOpenIdServer } from '../../support/openid-server.js'

const client = {
  CLIENT_ID: 'latchkey',
  CLIENT_SECRET: 'a secret of this test, long enough',
  REDIRECT_URI: 'http://localhost:3000/auth/oauthcallback/company',
}

/** An issuer that answers its discovery document with these members over sound ones. */
async function issuerWith(changes: (issuer: string) => object) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const sound = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` }
    response.end(JSON.stringify({ ...sound, jwks_uri: `${issuer}/keys`, ...changes(issuer) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { settings: { oauth: { company: { ...client, ISSUER: issuer } } }, asked }
}

test('a provider that knows the redirect address is fine', async () => {
  const { issuer } = await startOpenIdServer(client)
  const settings = { oauth: { company: { ...client, ISSUER: issuer } } }
  for (const code of ['oauth_discovery', 'oauth_redirect'])
    expect(await diagnosed(code, { settings })).toMatchObject([{ ok: true, skipped: null }])
})

test('a provider at which another redirect address is registered is found', async () => {
  const { issuer } = await startOpenIdServer({
    ...client,
    REDIRECT_URI: 'http://localhost:3000/auth/oauthcallback/other',
  })
  const settings = { oauth: { company: { ...client, ISSUER: issuer } } }
  expect(await diagnosed('oauth_redirect', { settings })).toMatchObject([
    { ok: false, level: 'error', finding: 'The provider company refuses the sign-in request with status 400.' },
  ])
  expect(await diagnosed('oauth_discovery', { settings })).toMatchObject([{ ok: true }])
})

test('an issuer that names another issuer, or is not there, is found', async () => {
  const { settings } = await issuerWith(() => ({ issuer: 'https://other.example' }))
  expect(await diagnosed('oauth_discovery', { settings })).toMatchObject([
    { ok: false, level: 'error', finding: expect.stringMatching(/: discovery issuer\.$/) },
  ])
  const nowhere = { oauth: { company: { ...client, ISSUER: 'http://127.0.0.1:1' } } }
  expect(await diagnosed('oauth_discovery', { settings: nowhere })).toMatchObject([
    { ok: false, finding: expect.stringMatching(/: discovery unreachable\.$/) },
  ])
  expect(await diagnosed('oauth_redirect', { settings: nowhere })).toMatchObject([
    { ok: true, skipped: 'The address of the provider company is not known.' },
  ])
})

test('ATK-213 a private address in a discovery document is not asked', async () => {
  let asked = 0
  const inner = createServer((_request, response) => {
    asked += 1
    response.end()
  })
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.2', resolve))
  onTestFinished(() => void inner.close())
  const { port } = inner.address() as AddressInfo
  const { settings } = await issuerWith(() => ({ authorization_endpoint: `https://inside.example:${port}/authorize` }))
  const world = { lookup: async () => ['127.0.0.2'] }
  expect(await diagnosed('oauth_redirect', { settings, world })).toMatchObject([
    { ok: true, skipped: 'The provider company cannot be asked: private address.' },
  ])
  for (const address of ['10.0.0.1', '169.254.169.254', '[::ffff:10.0.0.1]']) {
    const literal = await issuerWith(() => ({ authorization_endpoint: `https://${address}/latest/meta-data` }))
    expect(await diagnosed('oauth_redirect', literal)).toMatchObject([{ skipped: expect.stringContaining('private') }])
  }
  expect(asked).toBe(0)
})

test.each([
  [200, {}, 'AADSTS50011: The redirect URI does not match', false],
  [302, { location: 'https://accounts.google.com/signin/oauth/error?authError=x' }, '', false],
  [302, { location: 'https://accounts.google.com/v3/signin/identifier' }, '', true],
  [200, {}, '<form>Sign in</form>', true],
])('a provider that answers %i %j «%s»: fine is %s', async (status, headers, body, ok) => {
  const google = { ...client, REDIRECT_URI: 'http://localhost:3000/auth/oauthcallback/google' }
  const fetch = async () => new Response(body, { status, headers })
  const settings = { google, password: { checkBreached: false } }
  expect(await diagnosed('oauth_redirect', { settings, world: { fetch } })).toMatchObject([{ ok, skipped: null }])
})

test('without a provider nothing is asked', async () => {
  expect(await diagnosed('oauth_redirect')).toMatchObject([{ ok: true, skipped: 'No OAuth provider is set.' }])
})
