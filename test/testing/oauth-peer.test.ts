import { describe, expect, test } from 'vitest'
import { createOAuthPeer, createTestClock, createTestRuntime } from '../../src/testing.js'
import { testAuth } from '../support/auth.js'
import { answerOf, kept, peerProviders, startAt } from '../support/providers.js'

const ada = { id: '42', email: 'ada@gmail.com', name: 'Ada' }

describe('the offline provider', () => {
  test.each(['google', 'github', 'company'])('signs somebody in as %s does', async (name) => {
    const peer = createOAuthPeer()
    const provider = peerProviders(peer).find(name)
    peer.signInAs(ada)

    const callback = peer.answer(await startAt(provider))
    expect(callback).toMatch(new RegExp(`^http://localhost:3000/auth/oauthcallback/${name}\\?`))
    expect(new URL(callback).searchParams.get('state')).toBe(kept.state)
    expect(await provider.identify(answerOf(callback))).toEqual({
      id: '42',
      email: 'ada@gmail.com',
      emailVerified: true,
      authoritative: name !== 'company',
      name: 'Ada',
    })
  })

  test('tells of an account without an address, and of one that is not confirmed', async () => {
    const peer = createOAuthPeer()
    const { find } = peerProviders(peer)
    for (const name of ['google', 'github', 'company']) {
      peer.signInAs({ id: '7' })
      const nobody = await find(name).identify(answerOf(peer.answer(await startAt(find(name)))))
      expect(nobody).toMatchObject({ id: '7', email: null, authoritative: false })
      peer.signInAs({ ...ada, emailVerified: false })
      const unconfirmed = await find(name).identify(answerOf(peer.answer(await startAt(find(name)))))
      expect(unconfirmed).toMatchObject({ email: ada.email, emailVerified: false, authoritative: false })
    }
  })

  test('puts further claims into the id_token', async () => {
    const peer = createOAuthPeer()
    const provider = peerProviders(peer).find('google')
    peer.signInAs({ ...ada, email: 'ada@company.test', claims: { hd: 'company.test' } })
    const account = await provider.identify(answerOf(peer.answer(await startAt(provider))))
    expect(account).toMatchObject({ email: 'ada@company.test', authoritative: true })
  })

  test('takes a code once, and for ten minutes', async () => {
    const peer = createOAuthPeer()
    const { find, log } = peerProviders(peer)
    peer.signInAs(ada)
    for (const name of ['google', 'github', 'company']) {
      const answer = answerOf(peer.answer(await startAt(find(name))))
      expect(await find(name).identify(answer)).not.toBeNull()
      expect(await find(name).identify(answer)).toBeNull()

      const late = answerOf(peer.answer(await startAt(find(name))))
      await peer.clock.advance('10m')
      expect(await find(name).identify(late)).toBeNull()
    }
    expect(log).toHaveLength(6)
  })

  test('refuses another verifier, another client and another secret', async () => {
    const peer = createOAuthPeer()
    peer.signInAs(ada)
    for (const name of ['google', 'github', 'company']) {
      const { find } = peerProviders(peer)
      const answer = answerOf(peer.answer(await startAt(find(name))))
      expect(await find(name).identify({ ...answer, verifier: `${answer.verifier}x` })).toBeNull()
    }
    const stranger = createOAuthPeer({ clock: peer.clock })
    for (const name of ['google', 'github', 'company']) {
      const provider = peerProviders(stranger, peer.fetch).find(name)
      const url = await startAt(provider)
      expect(() => peer.answer(url)).toThrow('client_id is of no client')
    }
  })

  test('ATK-089 refuses a verifier of fewer than 43 characters, even the right one', async () => {
    const peer = createOAuthPeer()
    peer.signInAs(ada)
    const provider = peerProviders(peer).find('google')
    for (const [verifier, counts] of [
      ['x'.repeat(42), false],
      ['x'.repeat(43), true],
      ['x'.repeat(129), false],
    ] as const) {
      const url = await provider.authorizationUrl({ ...kept, verifier })
      const account = await provider.identify({ ...answerOf(peer.answer(url ?? '')), verifier })
      expect(account !== null).toBe(counts)
    }
  })

  test('gives no tokens to a client without its secret, nor to another redirect_uri', async () => {
    const peer = createOAuthPeer()
    peer.signInAs(ada)
    const { google, github } = peer.settings
    for (const [name, client, endpoint] of [
      ['google', google, 'https://oauth2.googleapis.com/token'],
      ['github', github, 'https://github.com/login/oauth/access_token'],
    ] as const) {
      const ask = async (changed: Readonly<Record<string, string>>) => {
        const { code } = answerOf(peer.answer(await startAt(peerProviders(peer).find(name))))
        const form = {
          grant_type: 'authorization_code',
          code,
          code_verifier: kept.verifier,
          client_id: client?.CLIENT_ID ?? '',
          client_secret: client?.CLIENT_SECRET ?? '',
          redirect_uri: client?.REDIRECT_URI ?? '',
          ...changed,
        }
        const answer = await peer.fetch(endpoint, { method: 'POST', body: new URLSearchParams(form) })
        const body: unknown = await answer.json()
        return JSON.stringify(body)
      }
      expect(await ask({})).toContain('access_token')
      expect(await ask({ client_secret: 'x' })).toMatch(/client/)
      expect(await ask({ client_secret: '' })).toMatch(/client/)
      expect(await ask({ redirect_uri: `${client?.REDIRECT_URI}/` })).toMatch(/invalid_grant|redirect_uri_mismatch/)
      expect(await ask({ code_verifier: '' })).toMatch(/invalid_grant|bad_verification_code/)
      expect(await ask({ grant_type: 'password' })).toContain('error')
    }
  })

  test.each([
    ['response_type', 'token', 'response_type'],
    ['redirect_uri', 'https://evil.example/auth/oauthcallback/google', 'redirect_uri'],
    ['code_challenge_method', 'plain', 'code_challenge_method'],
    ['code_challenge', 'short', 'code_challenge'],
    ['scope', 'email', 'openid'],
    ['state', '', 'state'],
  ])('shows an error rather than send anybody back with %s = %s', async (parameter, value, told) => {
    const peer = createOAuthPeer()
    peer.signInAs(ada)
    const url = new URL(await startAt(peerProviders(peer).find('google')))
    url.searchParams.set(parameter, value)
    expect(() => peer.answer(url.href)).toThrow(told)
    url.searchParams.delete(parameter)
    expect(() => peer.answer(url.href)).toThrow(told)
  })

  test('says what a test forgot', async () => {
    const peer = createOAuthPeer()
    const { find } = peerProviders(peer)
    const url = await startAt(find('github'))
    expect(() => peer.answer(url)).toThrow('signInAs')
    peer.signInAs({ id: 'ada' })
    expect(() => peer.answer(url)).toThrow('decimal digits')
    expect(() => peer.answer('https://elsewhere.test/authorize')).toThrow('elsewhere.test')
    expect(() => peer.answer('/auth/oauth/google')).toThrow('location header')
    await expect(peer.fetch('https://elsewhere.test/x')).rejects.toThrow('elsewhere.test/x')
  })

  test('lets a person refuse', async () => {
    const peer = createOAuthPeer()
    const { searchParams } = new URL(peer.refuse(await startAt(peerProviders(peer).find('google'))))
    expect(Object.fromEntries(searchParams)).toEqual({
      error: 'access_denied',
      state: kept.state,
      iss: 'https://accounts.google.com',
    })
  })

  test('tells what was asked of it', async () => {
    const peer = createOAuthPeer({ issuer: 'https://id.other.test' })
    const provider = peerProviders(peer).find('company')
    peer.signInAs({ id: '7' })
    const answer = answerOf(peer.answer(await startAt(provider)))
    await provider.identify(answer)
    expect(peer.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET https://id.other.test/.well-known/openid-configuration',
      'POST https://id.other.test/token',
      'GET https://id.other.test/keys',
      'GET https://id.other.test/userinfo',
    ])
    expect(peer.requests[1]?.form).toMatchObject({ code: answer.code, code_verifier: kept.verifier })
  })

  test('is all that an application needs to start, which has nothing to say about it', async () => {
    const peer = createOAuthPeer()
    const log: unknown[] = []
    const write = (fields: object) => log.push(fields)
    const runtime = createTestRuntime({ clock: peer.clock, fetch: peer.fetch })
    await testAuth({ ...peer.settings, logger: { warn: write, error: write } }, runtime)
    expect(log).toEqual([])
    expect(peer.requests).toEqual([])
  })

  test('stands where the application says, by its clock', async () => {
    const clock = createTestClock('2030-01-01T00:00:00Z')
    const peer = createOAuthPeer({ clock, baseUrl: 'https://app.example.test/x', basePath: '/account' })
    expect(peer.clock).toBe(clock)
    expect(peer.settings.google?.REDIRECT_URI).toBe('https://app.example.test/x/account/oauthcallback/google')
    expect(peer.settings.oauth?.company?.REDIRECT_URI).toBe('https://app.example.test/x/account/oauthcallback/company')
  })
})
