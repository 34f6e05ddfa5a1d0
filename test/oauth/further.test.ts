import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { createTestRuntime } from '../../src/testing.js'
import type { SettingsInput } from '../../src/wiring/settings.js'
import {
  createSigner,
  type Reply,
  startProviderServer,
  type TokenClaims,
  tokenAnswer,
} from '../support/provider-server.js'
import { answerOf, kept, startAt, testProviders } from '../support/providers.js'

const start = Date.UTC(2026, 0, 1) / 1000
const client = (name: string) => ({
  CLIENT_ID: `${name}-client`,
  CLIENT_SECRET: `${name}-secret`,
  REDIRECT_URI: `http://localhost:3000/auth/oauthcallback/${name}`,
})
const answer = answerOf('http://localhost:3000/auth/oauthcallback/x?code=the-code')

async function provided(name: string, oauth: SettingsInput['oauth'], replies: Record<string, Reply>) {
  const server = await startProviderServer(replies)
  const runtime = createTestRuntime({ fetch: server.fetch })
  const { find, log } = testProviders({ oauth }, runtime)
  return { provider: find(name), server, log, runtime }
}

/** What every id_token has. */
function claimsFor(name: string, claims: TokenClaims): TokenClaims {
  return { aud: `${name}-client`, iat: start, exp: start + 3600, nonce: kept.nonce, sub: 'the-subject', ...claims }
}

async function parametersAt(provider: Parameters<typeof startAt>[0]) {
  const url = new URL(await startAt(provider))
  return { endpoint: `${url.origin}${url.pathname}`, ...Object.fromEntries(url.searchParams) }
}

describe('Microsoft', () => {
  const tid = '11111111-2222-3333-4444-555555555555'
  const personal = '9188040d-6c67-4c5b-b112-36a304b66dad'
  const issuerOf = (id: string) => `https://login.microsoftonline.com/${id}/v2.0`

  async function atMicrosoft(claims: TokenClaims, settings = {}, tenant = 'common') {
    const signer = await createSigner()
    const token = await signer.sign(claimsFor('microsoft', { iss: issuerOf(tid), tid, ...claims }))
    const base = `https://login.microsoftonline.com/${tenant}`
    return provided(
      'microsoft',
      { microsoft: { ...client('microsoft'), TENANT: tenant, ...settings } },
      {
        [`POST ${base}/oauth2/v2.0/token`]: tokenAnswer(token),
        [`GET ${base}/discovery/v2.0/keys`]: signer.keySet,
      },
    )
  }

  test('is asked for what is needed and no more, with PKCE and nonce', async () => {
    const { provider } = await atMicrosoft({}, {}, tid)
    expect(await parametersAt(provider)).toMatchObject({
      endpoint: `https://login.microsoftonline.com/${tid}/oauth2/v2.0/authorize`,
      client_id: 'microsoft-client',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      nonce: kept.nonce,
    })
  })

  test('ATK-087 knows an account by its directory and the subject there', async () => {
    const { provider } = await atMicrosoft({ name: 'Ada', oid: 'x', preferred_username: 'ada@company.test' })
    expect(await provider.identify(answer)).toEqual({
      id: `${tid}.the-subject`,
      email: null,
      emailVerified: null,
      authoritative: false,
      name: 'Ada',
    })
  })

  test.each<[TokenClaims, boolean | null]>([
    [{}, null],
    [{ email_verified: true }, null],
    [{ xms_edov: true }, true],
    [{ xms_edov: 1 }, true],
    [{ xms_edov: '1' }, true],
    [{ xms_edov: false }, false],
    [{ xms_edov: '0' }, false],
    [{ xms_edov: null }, false],
  ])('ATK-086 an address with %j is verified: %j', async (claims, verified) => {
    const { provider } = await atMicrosoft({ email: 'ada@company.test', ...claims }, { trustEmail: true })
    expect(await provider.identify(answer)).toMatchObject({
      email: 'ada@company.test',
      emailVerified: verified,
      authoritative: verified === true,
    })
  })

  test.each<[string, TokenClaims, boolean]>([
    ['common', {}, true],
    ['common', { iss: issuerOf(personal), tid: personal }, true],
    ['organizations', {}, true],
    ['organizations', { iss: issuerOf(personal), tid: personal }, false],
    ['consumers', {}, false],
    ['consumers', { iss: issuerOf(personal), tid: personal }, true],
    [tid, {}, true],
    [tid, { iss: issuerOf(personal), tid: personal }, false],
    ['common', { tid: personal }, false],
    ['common', { tid: undefined }, false],
    ['common', { tid: [tid] }, false],
    ['common', { iss: issuerOf('{tenantid}'), tid: '{tenantid}' }, false],
    ['common', { iss: issuerOf('common'), tid: 'common' }, false],
    ['common', { iss: `https://sts.windows.net/${tid}/` }, false],
    ['common', { iss: `https://login.microsoftonline.com/${tid}/v2.0/` }, false],
    ['common', { iss: `https://login.microsoftonline.com.evil.example/${tid}/v2.0` }, false],
    ['common', { iss: `https://evil.example/https://login.microsoftonline.com/${tid}/v2.0` }, false],
  ])('ATK-091 with the tenant %s a token of %j counts: %j', async (tenant, claims, counts) => {
    const { provider, log } = await atMicrosoft(claims, {}, tenant)
    expect((await provider.identify(answer)) !== null).toBe(counts)
    if (!counts) expect(log).toMatchObject([{ reason: 'id_token_issuer' }])
  })
})

describe('Apple', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { CLIENT_SECRET: _, ...registered } = client('apple')
  const apple = {
    ...registered,
    TEAM_ID: 'ABCDE12345',
    KEY_ID: 'KEY1234567',
    PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }

  async function atApple(claims: TokenClaims = {}, settings = {}) {
    const signer = await createSigner()
    const token = await signer.sign(claimsFor('apple', { iss: 'https://appleid.apple.com', ...claims }))
    return provided(
      'apple',
      { apple: { ...apple, ...settings } },
      {
        'POST https://appleid.apple.com/auth/token': tokenAnswer(token),
        'GET https://appleid.apple.com/auth/keys': signer.keySet,
      },
    )
  }

  test('answers by a form, with PKCE and nonce', async () => {
    const { provider } = await atApple()
    expect(await parametersAt(provider)).toMatchObject({
      endpoint: 'https://appleid.apple.com/auth/authorize',
      response_mode: 'form_post',
      scope: 'name email',
      code_challenge_method: 'S256',
      nonce: kept.nonce,
    })
  })

  test('gets a client secret that the key of the team signs, made anew and good for minutes', async () => {
    const { provider, server, runtime } = await atApple()
    await provider.identify(answer)
    const secret = server.asked[0]?.form.client_secret ?? ''
    expect(decodeProtectedHeader(secret)).toEqual({ alg: 'ES256', kid: 'KEY1234567' })
    const { payload } = await jwtVerify(secret, createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), {
      currentDate: new Date(runtime.clock.now()),
    })
    expect(payload).toEqual({
      iss: 'ABCDE12345',
      sub: 'apple-client',
      aud: 'https://appleid.apple.com',
      iat: start,
      exp: start + 300,
    })
    expect(server.asked[0]?.form.client_id).toBe('apple-client')

    await runtime.clock.advance('10m')
    await provider.identify(answer)
    const later = server.asked.filter(({ line }) => line.startsWith('POST'))[1]?.form.client_secret
    expect(later).not.toBe(secret)
  })

  test.each<[unknown, boolean | null]>([
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
    ['TRUE', null],
    [1, null],
    [undefined, null],
  ])('ATK-086 an address with email_verified %j is verified: %j', async (claim, verified) => {
    const claims = { email: 'x7k@privaterelay.appleid.com', email_verified: claim }
    const trusted = await atApple(claims, { trustEmail: true })
    expect(await trusted.provider.identify(answer)).toEqual({
      id: 'the-subject',
      email: 'x7k@privaterelay.appleid.com',
      emailVerified: verified,
      authoritative: verified === true,
      name: null,
    })
    const { provider } = await atApple(claims)
    expect(await provider.identify(answer)).toMatchObject({ emailVerified: verified, authoritative: false })
  })
})

describe('Discord', () => {
  const user = { id: '80351110224678912', username: 'ada', global_name: 'Ada', email: 'ada@x.test', verified: true }

  async function atDiscord(changes: object = {}, settings = {}) {
    return provided(
      'discord',
      { discord: { ...client('discord'), ...settings } },
      {
        'POST https://discord.com/api/oauth2/token': tokenAnswer(),
        'GET https://discord.com/api/v10/users/@me': { ...user, ...changes },
      },
    )
  }

  test('is asked for what is needed and no more, with PKCE', async () => {
    const { provider } = await atDiscord()
    const parameters = await parametersAt(provider)
    expect(parameters).toMatchObject({
      endpoint: 'https://discord.com/oauth2/authorize',
      scope: 'identify email',
      code_challenge_method: 'S256',
    })
    expect(parameters).not.toHaveProperty('nonce')
  })

  test.each<[object, boolean, object]>([
    [{}, false, { id: user.id, email: user.email, emailVerified: true, authoritative: false, name: 'Ada' }],
    [{}, true, { authoritative: true }],
    [{ global_name: null }, true, { name: 'ada' }],
    [{ verified: false }, true, { emailVerified: false, authoritative: false }],
    [{ verified: 'true' }, true, { emailVerified: false, authoritative: false }],
    [{ email: null }, true, { email: null, emailVerified: null, authoritative: false }],
  ])('ATK-086 with %j and trustEmail %j tells %j', async (changes, trustEmail, expected) => {
    const { provider, server } = await atDiscord(changes, { trustEmail })
    expect(await provider.identify(answer)).toMatchObject(expected)
    expect(server.asked[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('discord-client:discord-secret').toString('base64')}`,
    )
  })

  test('ATK-090 does not take the answer of another provider', async () => {
    const { provider, log, server } = await atDiscord()
    for (const issuer of ['https://accounts.google.com', 'https://discord.com.evil.example', '']) {
      expect(await provider.identify({ ...answer, issuer })).toBeNull()
      expect(log.pop()).toMatchObject({ reason: 'answer_issuer' })
    }
    expect(server.asked).toEqual([])
    expect(await provider.identify({ ...answer, issuer: 'https://discord.com' })).not.toBeNull()
  })

  test('ATK-087 tells nobody by a number that JSON may have rounded', async () => {
    const { provider, log } = await atDiscord({ id: 80351110224678912 })
    expect(await provider.identify(answer)).toBeNull()
    expect(log).toMatchObject([{ reason: 'no_id' }])
  })
})

describe('GitLab', () => {
  async function atGitlab(base: string, settings = {}, claims: TokenClaims = {}) {
    const signer = await createSigner()
    const token = await signer.sign(
      claimsFor('gitlab', { iss: base, email: 'ada@x.test', email_verified: true, ...claims }),
    )
    return provided(
      'gitlab',
      { gitlab: { ...client('gitlab'), ...settings } },
      {
        [`POST ${base}/oauth/token`]: tokenAnswer(token),
        [`GET ${base}/oauth/discovery/keys`]: signer.keySet,
        [`GET ${base}/oauth/userinfo`]: { sub: 'the-subject', email: 'public@x.test', name: 'Ada' },
      },
    )
  }

  test('is gitlab.com, or a server of one’s own below any path', async () => {
    for (const base of ['https://gitlab.com', 'https://git.company.test/lab']) {
      const { provider, server } = await atGitlab(base, base === 'https://gitlab.com' ? {} : { BASE_URL: `${base}/` })
      expect(await parametersAt(provider)).toMatchObject({
        endpoint: `${base}/oauth/authorize`,
        scope: 'openid email profile',
        code_challenge_method: 'S256',
        nonce: kept.nonce,
      })
      expect(await provider.identify(answer)).toEqual({
        id: 'the-subject',
        email: 'ada@x.test',
        emailVerified: true,
        authoritative: false,
        name: null,
      })
      expect(server.asked[0]?.form).toMatchObject({ client_id: 'gitlab-client', client_secret: 'gitlab-secret' })
    }
  })

  test('ATK-091 does not take the token of another server', async () => {
    const { provider, log } = await atGitlab('https://gitlab.com', {}, { iss: 'https://git.company.test' })
    expect(await provider.identify(answer)).toBeNull()
    expect(log).toMatchObject([{ reason: 'id_token_issuer' }])
  })

  test('is authoritative with trustEmail only', async () => {
    const { provider } = await atGitlab('https://gitlab.com', { trustEmail: true })
    expect(await provider.identify(answer)).toMatchObject({ authoritative: true })
  })
})
