import { createHash, createHmac, createPublicKey } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { createTestRuntime, type TestRuntime } from '../../src/testing.js'
import {
  createSigner,
  type ProviderServer,
  type Reply,
  startProviderServer,
  type TokenClaims,
  tokenAnswer,
} from '../support/provider-server.js'
import { answerOf, kept, startAt, testProviders } from '../support/providers.js'

const tokenUrl = 'https://oauth2.googleapis.com/token'
const keysUrl = 'https://www.googleapis.com/oauth2/v3/certs'
const client = (name: string) => ({
  CLIENT_ID: `${name}-client`,
  CLIENT_SECRET: `${name}-secret-that-nobody-may-see`,
  REDIRECT_URI: `http://localhost:3000/auth/oauthcallback/${name}`,
})
const settings = {
  google: client('google'),
  github: client('github'),
  oauth: { company: { ...client('company'), ISSUER: 'https://id.company.test' } },
}
const answer = answerOf('http://localhost:3000/auth/oauthcallback/google?code=code-that-nobody-may-see')
const accessToken = 'access-token-of-this-test'
const start = Date.UTC(2026, 0, 1) / 1000
const sound: TokenClaims = {
  iss: 'https://accounts.google.com',
  aud: 'google-client',
  azp: 'google-client',
  sub: '7',
  iat: start,
  exp: start + 3600,
  nonce: kept.nonce,
  email: 'ada@gmail.com',
  email_verified: true,
}

/** Google, with whatever it answers to a token request, and with its key set. */
async function atGoogle(token: Reply, keySet?: Reply, runtimeFetch?: (server: ProviderServer) => typeof fetch) {
  const server = await startProviderServer({
    [`POST ${tokenUrl}`]: token,
    [`GET ${keysUrl}`]: keySet ?? (await createSigner()).keySet,
  })
  const runtime = createTestRuntime({ fetch: runtimeFetch?.(server) ?? server.fetch })
  const { find, log } = testProviders(settings, runtime)
  return { google: find('google'), log, server, runtime }
}

/** Nobody is signed in, and the log says why in a word, and nothing that was exchanged. */
function expectNobody(account: unknown, log: readonly object[], reason: string): void {
  expect(account).toBeNull()
  expect(log).toEqual([{ event: 'oauth_failed', provider: 'google', reason, message: expect.any(String) }])
  const secrets = ['nobody-may-see', kept.verifier, kept.nonce, accessToken, 'ada@', 'eyJ']
  for (const secret of secrets) expect(JSON.stringify(log)).not.toContain(secret)
}

describe('ATK-089 PKCE', () => {
  test.each(['google', 'github', 'company'])(
    'goes along to %s: a challenge of its own, never the verifier',
    async (name) => {
      const server = await startProviderServer({
        'GET https://id.company.test/.well-known/openid-configuration': {
          issuer: 'https://id.company.test',
          authorization_endpoint: 'https://id.company.test/authorize',
          token_endpoint: 'https://id.company.test/token',
          jwks_uri: 'https://id.company.test/keys',
        },
      })
      const { find, log } = testProviders(settings, createTestRuntime({ fetch: server.fetch }))
      const one = new URL(await startAt(find(name)))
      const other = new URL((await find(name).authorizationUrl({ ...kept, verifier: `${kept.verifier}-2` })) ?? '')
      expect(one.searchParams.get('code_challenge_method')).toBe('S256')
      expect(one.searchParams.get('code_challenge')).toBe(
        createHash('sha256').update(kept.verifier).digest('base64url'),
      )
      expect(other.searchParams.get('code_challenge')).not.toBe(one.searchParams.get('code_challenge'))
      expect(one.href).not.toContain(kept.verifier)

      await find(name).identify(answer)
      const trade = server.asked.find(({ line }) => line.startsWith('POST'))
      expect(trade?.form.code_verifier).toBe(kept.verifier)
      expect(server.asked.map(({ line }) => line).join()).not.toContain(kept.verifier)
      expect(JSON.stringify(log)).not.toContain(kept.verifier)
    },
  )
})

describe('ATK-091 an id_token', () => {
  test.each<[string, TokenClaims, string]>([
    ['another audience', { aud: 'another-client' }, 'id_token_audience'],
    ['no audience', { aud: undefined }, 'id_token_claims'],
    ['an audience that only begins so', { aud: 'google-client.evil' }, 'id_token_audience'],
    ['several audiences and another party', { aud: ['google-client', 'x'], azp: 'x' }, 'id_token_authorized_party'],
    ['several audiences and no party', { aud: ['google-client', 'x'], azp: undefined }, 'id_token_authorized_party'],
    ['another authorized party', { azp: 'another-client' }, 'id_token_authorized_party'],
    ['no text as authorized party', { azp: null }, 'id_token_authorized_party'],
    ['another issuer', { iss: 'https://accounts.google.com.evil.example' }, 'id_token_issuer'],
    ['http', { iss: 'http://accounts.google.com' }, 'id_token_issuer'],
    ['a slash', { iss: 'https://accounts.google.com/' }, 'id_token_issuer'],
    ['no issuer', { iss: undefined }, 'id_token_claims'],
    ['another nonce', { nonce: 'another' }, 'id_token_nonce'],
    ['no nonce', { nonce: undefined }, 'id_token_nonce'],
    ['a list as nonce', { nonce: [kept.nonce] }, 'id_token_nonce'],
    ['a time that has passed', { exp: start - 60 }, 'id_token_expired'],
    ['no end', { exp: undefined }, 'id_token_claims'],
    ['a text as end', { exp: String(start + 3600) }, 'id_token_claims'],
    ['a birth to come', { iat: start + 61 }, 'id_token_issued_at'],
    ['no birth', { iat: undefined }, 'id_token_claims'],
    ['a beginning to come', { nbf: start + 61 }, 'id_token_claims'],
    ['no subject', { sub: undefined }, 'id_token_claims'],
    ['an empty subject', { sub: '' }, 'id_token_claims'],
    ['another access token', { at_hash: 'wS-Tuz2TXKLk4g2uT6pSBQ' }, 'id_token_access_token_hash'],
    ['no text as hash', { at_hash: null }, 'id_token_access_token_hash'],
  ])('with %s tells nobody', async (_case, changes, reason) => {
    const { sign } = await createSigner()
    const { google, log } = await atGoogle(tokenAnswer(await sign({ ...sound, ...changes })))
    expectNobody(await google.identify(answer), log, reason)
  })

  const half = createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url')
  test.each<[string, TokenClaims]>([
    ['everything', {}],
    ['an issuer without scheme', { iss: 'accounts.google.com' }],
    ['no authorized party', { azp: undefined }],
    ['a list of one audience', { aud: ['google-client'] }],
    ['several audiences and us as the party', { aud: ['x', 'google-client'] }],
    ['an end within the skew', { exp: start - 59 }],
    ['a birth within the skew', { iat: start + 60 }],
    ['the hash of its access token', { at_hash: half }],
  ])('with %s counts', async (_case, changes) => {
    const { sign } = await createSigner()
    const { google } = await atGoogle(tokenAnswer(await sign({ ...sound, ...changes })))
    expect(await google.identify(answer)).toMatchObject({ id: '7', email: 'ada@gmail.com' })
  })

  const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const hmac = (text: string, key: string | Buffer) =>
    `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
  const hs256 = `${base64({ alg: 'HS256', typ: 'JWT', kid: 'key-1' })}.${base64(sound)}`

  test.each<[string, () => Promise<string>, string]>([
    ['alg none', async () => `${base64({ alg: 'none' })}.${base64(sound)}.`, 'algorithm'],
    ['alg None', async () => `${base64({ alg: 'None' })}.${base64(sound)}.`, 'algorithm'],
    ['HS256 with the client secret', async () => hmac(hs256, settings.google.CLIENT_SECRET), 'algorithm'],
    ['HS256 with the public key', async () => hmac(hs256, await publicPem()), 'algorithm'],
    [
      'another RSA key under that name',
      async () => (await createSigner('RS256', 'evil')).sign(sound, { kid: 'key-1' }),
      'signature',
    ],
    ['a key that is not there', async () => (await createSigner('RS256', 'evil')).sign(sound), 'unknown_key'],
    ['ES256', async () => (await createSigner('ES256', 'key-1')).sign(sound), 'algorithm'],
    ['PS256', async () => (await createSigner('PS256', 'key-1')).sign(sound), 'algorithm'],
    ['a key in its header', async () => withOwnKey(), 'signature'],
    [
      'an unknown critical header',
      async () => `${base64({ alg: 'RS256', kid: 'key-1', crit: ['x'], x: 1 })}.${base64(sound)}.AAAA`,
      'algorithm',
    ],
    ['the type of an access token', async () => (await createSigner()).sign(sound, { typ: 'at+jwt' }), 'malformed'],
    ['a changed claim', async () => changed(await (await createSigner()).sign(sound)), 'signature'],
    ['no signature', async () => (await (await createSigner()).sign(sound)).replace(/[^.]+$/, ''), 'signature'],
    ['two parts', async () => (await (await createSigner()).sign(sound)).replace(/\.[^.]+$/, ''), 'malformed'],
    ['nonsense', async () => 'nonsense', 'malformed'],
    ['nothing', async () => '', 'malformed'],
  ])('with %s tells nobody', async (_case, token, fault) => {
    const { google, log } = await atGoogle({ ...tokenAnswer(), id_token: await token() })
    expectNobody(await google.identify(answer), log, `id_token_${fault}`)
  })

  test('that is not there tells nobody', async () => {
    for (const id_token of [undefined, null, 7, {}]) {
      const { google, log } = await atGoogle({ ...tokenAnswer(), id_token })
      expectNobody(await google.identify(answer), log, 'id_token_missing')
    }
  })

  async function publicPem(): Promise<Buffer> {
    const [jwk = {}] = (await createSigner()).keySet.keys
    return Buffer.from(createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }))
  }

  async function withOwnKey(): Promise<string> {
    const evil = await createSigner('RS256', 'evil')
    const [jwk] = evil.keySet.keys
    return evil.sign(sound, { kid: 'key-1', jwk, jku: 'https://evil.example/keys', x5u: 'https://evil.example/x' })
  }

  function changed(token: string): string {
    const [header, , signature] = token.split('.')
    return [header, base64({ ...sound, sub: '8' }), signature].join('.')
  }
})

describe('the keys of id_tokens', () => {
  test('are asked once an hour, and once more in a cool-down for keys that nobody knows', async () => {
    const one = await createSigner('RS256', 'one')
    const two = await createSigner('RS256', 'two')
    const { google, server, runtime, log } = await atGoogle(tokenAnswer(await one.sign(sound)), one.keySet)
    const asked = () => server.asked.filter(({ line }) => line === `GET ${keysUrl}`).length
    await Promise.all(Array.from({ length: 5 }, () => google.identify(answer)))
    expect(asked()).toBe(1)

    // They rotate: the new key is found once the cool-down is over.
    server.replies[`POST ${tokenUrl}`] = tokenAnswer(await two.sign(sound))
    server.replies[`GET ${keysUrl}`] = { keys: [...one.keySet.keys, ...two.keySet.keys] }
    expect(await google.identify(answer)).toBeNull()
    expect(asked()).toBe(1)
    await runtime.clock.advance('30s')
    expect(await google.identify(answer)).toMatchObject({ id: '7' })
    expect(asked()).toBe(2)

    server.replies[`POST ${tokenUrl}`] = tokenAnswer(await (await createSigner('RS256', 'evil')).sign(sound))
    await runtime.clock.advance('30s')
    for (let count = 0; count < 20; count += 1) expect(await google.identify(answer)).toBeNull()
    expect(asked()).toBe(3)
    expect(new Set(log.map(({ reason }) => reason))).toEqual(new Set(['id_token_unknown_key']))
  })

  test('that cannot be read tell nobody, until they can', async () => {
    const signer = await createSigner()
    const broken: Reply[] = [
      (_asked, response) => void response.writeHead(500).end(),
      { keys: 'x' },
      { keys: [null] },
      (_asked, response) => void response.end('[]'),
    ]
    const { google, server, log } = await atGoogle(tokenAnswer(await signer.sign(sound)))
    for (const reply of broken) {
      server.replies[`GET ${keysUrl}`] = reply
      expect(await google.identify(answer)).toBeNull()
      expect(log.pop()).toMatchObject({ reason: 'id_token_keys_unavailable' })
    }
    server.replies[`GET ${keysUrl}`] = signer.keySet
    expect(await google.identify(answer)).toMatchObject({ id: '7' })
  })

  test('of another kind, or for another use, do not count', async () => {
    const { sign, keySet } = await createSigner()
    const [key = {}] = keySet.keys
    for (const keys of [
      [{ ...key, use: 'enc' }],
      [{ ...key, alg: 'PS256' }],
      [{ kty: 'oct', k: 'AAAA', kid: 'key-1', alg: 'RS256' }],
      [key, { ...key }],
    ]) {
      const { google, log } = await atGoogle(tokenAnswer(await sign(sound)), { keys })
      expectNobody(await google.identify(answer), log, 'id_token_unknown_key')
    }
  })
})

describe('ATK-093 trouble at the token endpoint', () => {
  const tokens = { access_token: accessToken, token_type: 'bearer' }
  const status =
    (code: number, body: unknown, headers = {}) =>
    (_asked: unknown, response: ServerResponse) =>
      void response.writeHead(code, headers).end(typeof body === 'string' ? body : JSON.stringify(body))

  test.each<[string, Reply, string]>([
    ['500', status(500, tokens), 'token_bad_status'],
    ['201', status(201, tokens), 'token_bad_status'],
    ['302', status(302, tokens, { location: 'https://evil.example/token' }), 'token_redirected'],
    ['307', status(307, tokens, { location: 'https://evil.example/token' }), 'token_redirected'],
    ['400 with a known error', status(400, { error: 'invalid_grant' }), 'token_invalid_grant'],
    ['401 for a wrong secret', status(401, { error: 'invalid_client' }), 'token_invalid_client'],
    ['400 with words of its own', status(400, { error: 'google-secret-that-nobody-may-see' }), 'token_refused'],
    ['400 with tokens', status(400, tokens), 'token_bad_status'],
    ['400 with HTML', status(400, '<html>'), 'token_bad_status'],
    ['200 with an error, as GitHub has it', { error: 'bad_verification_code' }, 'token_bad_verification_code'],
    ['200 with an error and tokens', { ...tokens, error: 'x' }, 'token_refused'],
    ['200 with an error that is no text', { ...tokens, error: null }, 'token_refused'],
    ['HTML', status(200, '<html><script>alert(1)</script>'), 'token_malformed'],
    ['a form', status(200, 'access_token=x&token_type=bearer'), 'token_malformed'],
    ['a list', status(200, [tokens]), 'token_malformed'],
    ['null', status(200, 'null'), 'token_malformed'],
    ['nothing', status(200, ''), 'token_malformed'],
    ['no token_type', { access_token: accessToken }, 'token_type'],
    ['another token_type', { ...tokens, token_type: 'mac' }, 'token_type'],
    ['a list as token_type', { ...tokens, token_type: ['bearer'] }, 'token_type'],
    ['no access token', { token_type: 'bearer' }, 'token_malformed'],
    ['a header in the access token', { ...tokens, access_token: 'x\r\nx-evil: 1' }, 'token_malformed'],
    ['a number as access token', { ...tokens, access_token: 7 }, 'token_malformed'],
    ['10 MB', status(200, 'x'.repeat(10_000_000)), 'token_too_big'],
    ['a gzip bomb', status(200, gzipSync('x'.repeat(50_000_000)).toString('latin1')), 'token_malformed'],
    ['a gzip bomb that says so', bomb, 'token_too_big'],
    ['no answer', (_asked, response) => void response.destroy(), 'token_unreachable'],
    ['half an answer', cutOff, 'token_unreachable'],
  ])('%s tells nobody', async (_case, reply, reason) => {
    const { google, log, server } = await atGoogle(reply)
    expectNobody(await google.identify(answer), log, reason)
    expect(server.asked.map(({ line }) => line)).toEqual([`POST ${tokenUrl}`])
  })

  test.each<[string, Reply]>([
    ['never answers', () => {}],
    ['answers byte by byte', (_asked, response) => void response.write('{"access_token": "')],
  ])('one that %s is left after 10 s', async (_case, reply) => {
    const { google, log, server, runtime } = await atGoogle(reply)
    const pending = google.identify(answer)
    await reached(server)
    await runtime.clock.advance(9_999)
    expect(log).toEqual([])
    await runtime.clock.advance(1)
    expectNobody(await pending, log, 'token_too_slow')
  })

  test('one that fetch itself throws at is nothing worse', async () => {
    const { google, log } = await atGoogle({}, {}, () => () => {
      throw new Error(`cannot post ${settings.google.CLIENT_SECRET}`)
    })
    expectNobody(await google.identify(answer), log, 'token_unreachable')
  })

  function bomb(_asked: unknown, response: ServerResponse): void {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(50_000_000)))
  }

  function cutOff(_asked: unknown, response: ServerResponse): void {
    response.writeHead(200, { 'content-length': '100' }).write('{"access')
    setTimeout(() => response.destroy(), 20)
  }

  async function reached(server: ProviderServer): Promise<void> {
    while (server.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  }
})

describe('ATK-096 what leaves for a provider', () => {
  test.each([
    ['google', 'openid email profile'],
    ['github', 'read:user user:email'],
  ])('to %s is the REDIRECT_URI letter for letter, and scopes no wider than needed', async (name, scope) => {
    const runtime: TestRuntime = createTestRuntime()
    const { find } = testProviders(settings, runtime)
    const { searchParams } = new URL(await startAt(find(name)))
    expect(searchParams.get('redirect_uri')).toBe(client(name).REDIRECT_URI)
    expect(searchParams.get('scope')).toBe(scope)
    expect(searchParams.get('access_type')).toBeNull() // no refresh token
    expect(searchParams.has('client_secret')).toBe(false)
  })

  test('is the code once, with the secret in the body only, and no token comes out', async () => {
    const { sign } = await createSigner()
    const { google, server } = await atGoogle(tokenAnswer(await sign(sound)))
    const account = await google.identify(answer)
    expect(Object.keys(account ?? {}).sort()).toEqual(['authoritative', 'email', 'emailVerified', 'id', 'name'])
    expect(JSON.stringify(account)).not.toContain(accessToken)
    const [trade] = server.asked
    expect(trade?.form).toEqual({
      grant_type: 'authorization_code',
      code: answer.code,
      redirect_uri: settings.google.REDIRECT_URI,
      code_verifier: kept.verifier,
      client_id: 'google-client',
      client_secret: settings.google.CLIENT_SECRET,
    })
    expect(server.asked.map(({ line }) => line)).toEqual([`POST ${tokenUrl}`, `GET ${keysUrl}`])
  })
})
