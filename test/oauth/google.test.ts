import { OAuth2Server } from 'oauth2-mock-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createOAuthPeer, type PeerAccount } from '../../src/testing.js'
import { answerOf, kept, peerProviders, startAt, testProviders } from '../support/providers.js'

const google = {
  CLIENT_ID: 'google-client',
  CLIENT_SECRET: 'google-secret',
  REDIRECT_URI: 'http://localhost:3000/auth/oauthcallback/google',
}

/** The mock server in the place of Google, its endpoints reached by Google's addresses. */
async function standIn() {
  const server = new OAuth2Server(undefined, undefined, { endpoints: { jwks: '/oauth2/v3/certs' } })
  await server.issuer.keys.generate('RS256')
  await server.start(0, '127.0.0.1')
  onTestFinished(() => server.stop())
  const origin = `http://127.0.0.1:${server.address().port}`
  server.issuer.url = 'https://accounts.google.com'
  const fetched: string[] = []
  const runtime = {
    now: Date.now,
    fetch: ((input, init) => {
      const url = new URL(input instanceof Request ? input.url : input)
      fetched.push(url.href)
      return fetch(`${origin}${url.pathname}`, init)
    }) satisfies typeof globalThis.fetch,
  }
  return { server, origin, fetched, provider: testProviders({ google }, runtime).find('google') }
}

describe('Google', () => {
  test('signs somebody in, with a server that is not ours in its place', async () => {
    const { server, origin, fetched, provider } = await standIn()
    server.service.on('beforeTokenSigning', ({ payload }) => {
      Object.assign(payload, { email: 'ada@gmail.com', email_verified: true, name: 'Ada', azp: 'google-client' })
    })
    const url = new URL(await startAt(provider))
    expect(url.origin + url.pathname).toBe('https://accounts.google.com/o/oauth2/v2/auth')

    const agreed = await fetch(`${origin}/authorize${url.search}`, { redirect: 'manual' })
    const callback = agreed.headers.get('location') ?? ''
    expect(callback.startsWith(google.REDIRECT_URI)).toBe(true)
    expect(await provider.identify(answerOf(callback))).toEqual({
      id: 'johndoe',
      email: 'ada@gmail.com',
      emailVerified: true,
      authoritative: true,
      name: 'Ada',
    })
    expect(fetched).toEqual(['https://oauth2.googleapis.com/token', 'https://www.googleapis.com/oauth2/v3/certs'])
  })

  test('ATK-089 the server there refuses another verifier', async () => {
    const { origin, provider } = await standIn()
    const { search } = new URL(await startAt(provider))
    const agreed = await fetch(`${origin}/authorize${search}`, { redirect: 'manual' })
    const answer = answerOf(agreed.headers.get('location') ?? '')
    expect(await provider.identify({ ...answer, verifier: kept.verifier.toUpperCase() })).toBeNull()
  })

  async function accountAt(account: PeerAccount) {
    const peer = createOAuthPeer()
    const { find, log } = peerProviders(peer)
    peer.signInAs(account)
    const found = await find('google').identify(answerOf(peer.answer(await startAt(find('google')))))
    return { found, log }
  }

  const verified = { email_verified: true }
  test.each<[string, Readonly<Record<string, unknown>>, boolean | null, boolean]>([
    ['ada@gmail.com', verified, true, true],
    ['Ada@GoogleMail.com', verified, true, true],
    ['ada@company.test', verified, true, false],
    ['ada@company.test', { ...verified, hd: 'company.test' }, true, true],
    ['ada@company.test', { ...verified, hd: '' }, true, false],
    ['ada@company.test', { ...verified, hd: true }, true, false],
    ['ada@company.test', { email_verified: false, hd: 'company.test' }, false, false],
    ['ada@company.test', { email_verified: 'true', hd: 'company.test' }, null, false],
    ['ada@gmail.com', { email_verified: 'true' }, null, false],
    ['ada@gmail.com', { email_verified: 1 }, null, false],
    ['ada@gmail.com', { email_verified: false }, false, false],
    ['ada@gmail.com', { email_verified: null }, null, false],
    ['ada@gmail.com.evil.example', verified, true, false],
    ['gmail.com@evil.example', verified, true, false],
    ['ada@notgmail.com', verified, true, false],
  ])('ATK-086 %s with %j is verified: %j, and its word suffices: %j', async (email, claims, is, suffices) => {
    const { found } = await accountAt({ id: '7', email, claims })
    expect(found).toMatchObject({ email, emailVerified: is, authoritative: suffices })
  })

  test('ATK-087 knows somebody by the subject, whatever becomes of the address', async () => {
    const { found: before } = await accountAt({ id: '10769150350006150715113082367', email: 'old@gmail.com' })
    const { found: after } = await accountAt({ id: '10769150350006150715113082367', email: 'new@gmail.com' })
    expect(before?.id).toBe('10769150350006150715113082367')
    expect(after?.id).toBe(before?.id)
  })

  test.each([107691503500, '', ' ', 'x'.repeat(256), 'a\nb', 'é', '\ud800', null, ['7'], { id: 7 }])(
    'ATK-087 tells nobody by the subject %j',
    async (sub) => {
      const { found, log } = await accountAt({ id: '7', claims: { sub } })
      expect(found).toBeNull()
      expect(log).toMatchObject([{ reason: expect.stringMatching(/^(?:no_id|id_token_claims)$/) }])
    },
  )

  test('takes a subject of 255 characters, and addresses and names only as texts', async () => {
    const { found } = await accountAt({ id: 'x'.repeat(255), claims: { email: 7, name: {} } })
    expect(found).toEqual({
      id: 'x'.repeat(255),
      email: null,
      emailVerified: null,
      authoritative: false,
      name: null,
    })
  })
})
