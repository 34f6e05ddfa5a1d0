import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { newKeyPair } from '../../src/testing/peer-desk.js'
import { createTestRuntime } from '../../src/testing.js'
import { startOpenIdServer } from '../support/openid-server.js'
import { createSigner, type Reply, startProviderServer, tokenAnswer } from '../support/provider-server.js'
import { answerOf, kept, startAt, testProviders } from '../support/providers.js'

const client = {
  CLIENT_ID: 'company client',
  CLIENT_SECRET: 'secret with a : and a % in it',
  REDIRECT_URI: 'http://localhost:3000/auth/oauthcallback/company',
}

describe('an OpenID issuer that is not ours', () => {
  async function atCompany(changes: Parameters<typeof startOpenIdServer>[1] = {}, settings = {}) {
    const server = await startOpenIdServer(client, changes)
    const oauth = { company: { ...client, ISSUER: server.issuer, ...settings } }
    const { find, log } = testProviders({ oauth }, { now: Date.now, fetch })
    return { provider: find('company'), server, log }
  }

  test('signs somebody in: discovery, PKCE, nonce, Basic credentials, id_token, userinfo', async () => {
    const { provider, server, log } = await atCompany()
    const callback = await server.agree(await startAt(provider))
    const answer = answerOf(callback)
    expect(answer.issuer).toBe(server.issuer)
    expect(await provider.identify(answer)).toEqual({
      id: 'ada',
      email: 'ada@company.test',
      emailVerified: true,
      authoritative: false,
      name: 'ADA',
    })
    expect(log).toEqual([])
  })

  test('is authoritative with trustEmail, and may put everything into the id_token', async () => {
    const { provider, server } = await atCompany({ conformIdTokenClaims: false }, { trustEmail: true })
    const answer = answerOf(await server.agree(await startAt(provider), 'grace'))
    expect(await provider.identify(answer)).toMatchObject({ id: 'grace', emailVerified: true, authoritative: true })
  })

  test('ATK-088 gives nothing for a code that was used', async () => {
    const { provider, server, log } = await atCompany()
    const answer = answerOf(await server.agree(await startAt(provider)))
    expect(await provider.identify(answer)).not.toBeNull()
    expect(await provider.identify(answer)).toBeNull()
    expect(log).toMatchObject([{ event: 'oauth_failed', provider: 'company', reason: 'token_invalid_grant' }])
  })

  test('ATK-089 gives nothing for another verifier, and ATK-091 nothing counts with another nonce', async () => {
    const { provider, server, log } = await atCompany()
    const answer = answerOf(await server.agree(await startAt(provider)))
    expect(await provider.identify({ ...answer, verifier: `${kept.verifier}x` })).toBeNull()
    const again = answerOf(await server.agree(await startAt(provider)))
    expect(await provider.identify({ ...again, nonce: 'another' })).toBeNull()
    expect(log).toMatchObject([{ reason: 'token_invalid_grant' }, { reason: 'id_token_nonce' }])
  })

  test('says in the log when the client secret is wrong, and does not say the secret', async () => {
    const { provider, server, log } = await atCompany({}, { CLIENT_SECRET: 'wrong-secret' })
    const answer = answerOf(await server.agree(await startAt(provider)))
    expect(await provider.identify(answer)).toBeNull()
    expect(log).toMatchObject([{ event: 'oauth_failed', reason: 'token_invalid_client' }])
    expect(JSON.stringify(log)).not.toContain('wrong-secret')
  })

  test('may sign with ES256', async () => {
    const { exportJWK } = await import('jose')
    const { privateKey } = newKeyPair('P-256')
    const { provider, server } = await atCompany({
      jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'es', alg: 'ES256', use: 'sig' }] },
      enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
    })
    const answer = answerOf(await server.agree(await startAt(provider)))
    expect(await provider.identify(answer)).toMatchObject({ id: 'ada' })
  })
})

const issuer = 'https://id.company.test'
const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/keys`,
}
const discovery = `GET ${issuer}/.well-known/openid-configuration`
const start = Date.UTC(2026, 0, 1)
const claims = {
  iss: issuer,
  sub: '7',
  aud: client.CLIENT_ID,
  iat: start / 1000,
  exp: start / 1000 + 600,
  nonce: kept.nonce,
}
const answer = answerOf(`${client.REDIRECT_URI}?code=the-code`)

async function scripted(changes: Readonly<Record<string, Reply>> = {}, settings = {}) {
  const signer = await createSigner()
  const server = await startProviderServer({
    [discovery]: metadata,
    [`POST ${issuer}/token`]: tokenAnswer(await signer.sign(claims)),
    [`GET ${issuer}/keys`]: signer.keySet,
    [`GET ${issuer}/userinfo`]: { sub: '7', email: 'ada@company.test', email_verified: true },
    ...changes,
  })
  const runtime = createTestRuntime({ fetch: server.fetch })
  const oauth = { company: { ...client, ISSUER: issuer, ...settings } }
  const { find, log, list } = testProviders({ oauth }, runtime)
  const asked = (line: string) => server.asked.filter((one) => one.line === line).length
  return { provider: find('company'), server, log, list, runtime, signer, asked }
}

describe('discovery', () => {
  test('is asked once an hour, by however many at once, and not before somebody needs it', async () => {
    const { provider, runtime, asked } = await scripted()
    expect(asked(discovery)).toBe(0)
    await Promise.all(Array.from({ length: 5 }, () => startAt(provider)))
    await runtime.clock.advance('59m')
    await startAt(provider)
    expect(asked(discovery)).toBe(1)
    await runtime.clock.advance('2m')
    await startAt(provider)
    expect(asked(discovery)).toBe(2)
  })

  test('goes on with what it knew while the issuer is down, for a day', async () => {
    const { provider, runtime, server, log, asked } = await scripted()
    await startAt(provider)
    server.replies[discovery] = (_asked, response) => void response.writeHead(500).end()
    await runtime.clock.advance('2h')
    for (let count = 0; count < 3; count += 1) expect(await provider.authorizationUrl(kept)).not.toBeNull()
    expect(asked(discovery)).toBe(2)
    await runtime.clock.advance('30s')
    expect(await provider.authorizationUrl(kept)).not.toBeNull()
    expect(asked(discovery)).toBe(3)
    expect(log).toEqual([])

    await runtime.clock.advance('22h')
    expect(await provider.authorizationUrl(kept)).toBeNull()
    expect(log).toMatchObject([{ event: 'oauth_failed', provider: 'company', reason: 'discovery_bad_status' }])
    server.replies[discovery] = metadata
    expect(await provider.authorizationUrl(kept)).not.toBeNull()
  })

  test('after a first failure asks again at once, and never stays broken', async () => {
    const { provider, server } = await scripted({ [discovery]: {} })
    expect(await provider.authorizationUrl(kept)).toBeNull()
    expect(await provider.identify(answer)).toBeNull()
    server.replies[discovery] = metadata
    expect(await provider.identify(answer)).toMatchObject({ id: '7' })
  })

  test.each<[string, Reply, string]>([
    ['another issuer', { ...metadata, issuer: 'https://id.evil.test' }, 'discovery_issuer'],
    ['the issuer with a slash', { ...metadata, issuer: `${issuer}/` }, 'discovery_issuer'],
    ['no issuer', { ...metadata, issuer: undefined }, 'discovery_issuer'],
    ['no token endpoint', { ...metadata, token_endpoint: undefined }, 'discovery_endpoint'],
    ['http', { ...metadata, token_endpoint: 'http://id.company.test/token' }, 'discovery_endpoint'],
    ['this machine', { ...metadata, token_endpoint: 'http://127.0.0.1:22/token' }, 'discovery_endpoint'],
    ['this machine by https', { ...metadata, jwks_uri: 'https://localhost/keys' }, 'discovery_endpoint'],
    ['a password', { ...metadata, jwks_uri: 'https://a:b@id.company.test/keys' }, 'discovery_endpoint'],
    ['a fragment', { ...metadata, authorization_endpoint: `${issuer}/a#b` }, 'discovery_endpoint'],
    ['another scheme', { ...metadata, authorization_endpoint: 'javascript:alert(1)' }, 'discovery_endpoint'],
    ['an address that is none', { ...metadata, userinfo_endpoint: 7 }, 'discovery_endpoint'],
    [
      'keys of ours only',
      { ...metadata, token_endpoint_auth_methods_supported: ['private_key_jwt'] },
      'discovery_auth_method',
    ],
    ['a list', [metadata], 'discovery_malformed'],
    ['HTML', (_asked, response) => void response.end('<html>'), 'discovery_malformed'],
    [
      'a redirect',
      (_asked, response) => void response.writeHead(302, { location: `${issuer}/x` }).end(),
      'discovery_redirected',
    ],
    ['10 MB', (_asked, response) => void response.end('x'.repeat(10_000_000)), 'discovery_too_big'],
  ])('refuses %s', async (_case, reply, reason) => {
    const { provider, log, server } = await scripted({ [discovery]: reply })
    expect(await provider.authorizationUrl(kept)).toBeNull()
    expect(log).toMatchObject([{ event: 'oauth_failed', reason }])
    expect(server.asked).toHaveLength(1)
  })

  test('sends the secret as the issuer wants it', async () => {
    const cases = [
      [undefined, 'header'],
      [['client_secret_basic', 'client_secret_post'], 'header'],
      [['client_secret_post'], 'body'],
    ] as const
    for (const [methods, place] of cases) {
      const { provider, server } = await scripted({
        [discovery]: { ...metadata, token_endpoint_auth_methods_supported: methods },
      })
      expect(await provider.identify(answer)).toMatchObject({ id: '7' })
      const request = server.asked.find(({ line }) => line.startsWith('POST'))
      const basic = `Basic ${Buffer.from('company+client:secret+with+a+%3A+and+a+%25+in+it').toString('base64')}`
      expect(request?.headers.authorization).toBe(place === 'header' ? basic : undefined)
      expect(request?.form.client_secret).toBe(place === 'body' ? client.CLIENT_SECRET : undefined)
    }
  })

  test('has the well-known address behind the whole issuer, and scopes and label of the settings', async () => {
    const tenant = 'https://id.company.test/realms/one/'
    const { provider, list, server } = await scripted(
      { [`GET ${tenant}.well-known/openid-configuration`]: { ...metadata, issuer: tenant } },
      { ISSUER: tenant, SCOPES: ['email', 'groups'], LABEL: 'The company' },
    )
    const url = new URL(await startAt(provider))
    expect(url.searchParams.get('scope')).toBe('openid email groups')
    expect(url.searchParams.get('nonce')).toBe(kept.nonce)
    expect(list()).toEqual([{ name: 'company', label: 'The company' }])
    expect(server.asked).toHaveLength(1)
  })

  test('is called by its name with a capital letter where the settings have no label', async () => {
    const { list } = await scripted({})
    expect(list()).toEqual([{ name: 'company', label: 'Company' }])
  })

  test('keeps a query that the authorization endpoint has', async () => {
    const { provider } = await scripted({
      [discovery]: { ...metadata, authorization_endpoint: `${issuer}/authorize?policy=one` },
    })
    const { searchParams } = new URL(await startAt(provider))
    expect([searchParams.get('policy'), searchParams.get('state')]).toEqual(['one', kept.state])
  })
})

describe('ATK-090 the issuer in an answer', () => {
  test('must be the one that was asked', async () => {
    const { provider, log } = await scripted()
    expect(await provider.identify({ ...answer, issuer })).toMatchObject({ id: '7' })
    for (const other of [`${issuer}/`, 'https://accounts.google.com', '']) {
      expect(await provider.identify({ ...answer, issuer: other })).toBeNull()
    }
    expect(log.map(({ reason }) => reason)).toEqual(['answer_issuer', 'answer_issuer', 'answer_issuer'])
  })

  test('must be there when the issuer always sends it', async () => {
    const { provider, server, log } = await scripted({
      [discovery]: { ...metadata, authorization_response_iss_parameter_supported: true },
    })
    expect(await provider.identify(answer)).toBeNull()
    expect(log).toMatchObject([{ reason: 'answer_issuer' }])
    expect(server.asked).toHaveLength(1)
    expect(await provider.identify({ ...answer, issuer })).toMatchObject({ id: '7' })
  })
})

describe('userinfo', () => {
  test('is asked only where the id_token has no address', async () => {
    const { provider, server, signer, asked } = await scripted()
    expect(await provider.identify(answer)).toMatchObject({ email: 'ada@company.test', emailVerified: true })
    expect(asked(`GET ${issuer}/userinfo`)).toBe(1)
    const own = { ...claims, email: 'own@company.test' }
    server.replies[`POST ${issuer}/token`] = tokenAnswer(await signer.sign(own))
    expect(await provider.identify(answer)).toMatchObject({ email: 'own@company.test', emailVerified: null })
    expect(asked(`GET ${issuer}/userinfo`)).toBe(1)
  })

  test('of another subject is refused, and so is one that does not answer', async () => {
    const { provider, server, log } = await scripted()
    const replies: [Reply, string][] = [
      [{ sub: '8', email: 'ada@company.test', email_verified: true }, 'userinfo_subject'],
      [{ email: 'ada@company.test', email_verified: true }, 'userinfo_subject'],
      [(_asked, response) => void response.writeHead(401).end(), 'userinfo_bad_status'],
      [(_asked, response) => void response.end('eyJhbGciOiJub25lIn0.e30.'), 'userinfo_malformed'],
    ]
    for (const [reply, reason] of replies) {
      server.replies[`GET ${issuer}/userinfo`] = reply
      expect(await provider.identify(answer)).toBeNull()
      expect(log.pop()).toMatchObject({ reason })
    }
  })

  test('speaks for an address of its own only: what the id_token says of none is not about it', async () => {
    const { provider, server, signer } = await scripted({
      [`GET ${issuer}/userinfo`]: { sub: '7', email: 'ada@company.test' },
    })
    server.replies[`POST ${issuer}/token`] = tokenAnswer(await signer.sign({ ...claims, email_verified: true }))
    expect(await provider.identify(answer)).toMatchObject({ email: 'ada@company.test', emailVerified: null })
  })

  test('is not missed where there is none', async () => {
    const { provider } = await scripted(
      { [discovery]: { ...metadata, userinfo_endpoint: undefined } },
      { trustEmail: true },
    )
    expect(await provider.identify(answer)).toMatchObject({ id: '7', email: null, authoritative: false })
  })
})

describe('ATK-091 the algorithms of an issuer', () => {
  const advertised = (...names: string[]) => ({ ...metadata, id_token_signing_alg_values_supported: names })

  test.each(['PS256', 'ES256', 'EdDSA'])('may be %s, where it says so', async (alg) => {
    const { sign, keySet } = await createSigner(alg)
    const digest = createHash(alg === 'EdDSA' ? 'sha512' : 'sha256')
      .update('access-token-of-this-test')
      .digest()
    const at_hash = digest.subarray(0, digest.length / 2).toString('base64url')
    const replies = {
      [`POST ${issuer}/token`]: tokenAnswer(await sign({ ...claims, at_hash })),
      [`GET ${issuer}/keys`]: keySet,
    }
    const willing = await scripted({ ...replies, [discovery]: advertised('RS256', alg) })
    expect(await willing.provider.identify(answer)).toMatchObject({ id: '7' })
    const silent = await scripted(replies)
    expect(await silent.provider.identify(answer)).toBeNull()
    expect(silent.log).toMatchObject([{ reason: 'id_token_algorithm' }])
  })

  test('are never a shared secret or none, whatever it says', async () => {
    const { provider, log, server } = await scripted({ [discovery]: advertised('none', 'HS256', 'RS512') })
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
    const part = (alg: string) => `${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.${payload}`
    const hs256 = createHmac('sha256', client.CLIENT_SECRET).update(part('HS256')).digest('base64url')
    const { sign } = await createSigner('RS512', 'key-1')
    for (const token of [`${part('none')}.`, `${part('HS256')}.${hs256}`, await sign(claims)]) {
      server.replies[`POST ${issuer}/token`] = tokenAnswer(token)
      expect(await provider.identify(answer)).toBeNull()
      expect(log.pop()).toMatchObject({ reason: 'id_token_algorithm' })
    }
  })
})
