import { describe, expect, test } from 'vitest'
import { type Reply, startProviderServer, tokenAnswer } from '../support/provider-server.js'
import { answerOf, kept, startAt, testProviders } from '../support/providers.js'

const github = {
  CLIENT_ID: 'github-client',
  CLIENT_SECRET: 'github-secret',
  REDIRECT_URI: 'http://localhost:3000/auth/oauthcallback/github',
}
const answer = answerOf('http://localhost:3000/auth/oauthcallback/github?code=the-code&state=x')
const primary = { email: 'Ada@Example.test', primary: true, verified: true, visibility: 'private' }
const user = { id: 583231, login: 'ada', name: 'Ada Lovelace', email: 'public@elsewhere.test' }

async function atGithub(replies: Readonly<Record<string, Reply>> = {}) {
  const server = await startProviderServer({
    'POST https://github.com/login/oauth/access_token': tokenAnswer(),
    'GET https://api.github.com/user': user,
    'GET https://api.github.com/user/emails': [primary],
    ...replies,
  })
  const { find, log } = testProviders({ github }, { now: Date.now, fetch: server.fetch })
  return { provider: find('github'), server, log }
}

describe('GitHub', () => {
  test('is asked for what is needed and no more, with PKCE', async () => {
    const { provider } = await atGithub()
    const url = new URL(await startAt(provider))
    expect(url.origin + url.pathname).toBe('https://github.com/login/oauth/authorize')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'github-client',
      redirect_uri: github.REDIRECT_URI,
      state: kept.state,
      scope: 'read:user user:email',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    })
  })

  test('tells id, primary address and name', async () => {
    const { provider, server } = await atGithub()
    expect(await provider.identify(answer)).toEqual({
      id: '583231',
      email: 'Ada@Example.test',
      emailVerified: true,
      authoritative: true,
      name: 'Ada Lovelace',
    })
    const [token, profile, emails] = server.asked
    expect(token?.form).toEqual({
      grant_type: 'authorization_code',
      code: 'the-code',
      redirect_uri: github.REDIRECT_URI,
      code_verifier: kept.verifier,
      client_id: 'github-client',
      client_secret: 'github-secret',
    })
    expect(token?.headers).toMatchObject({ accept: 'application/json', 'user-agent': 'latchkey' })
    for (const asked of [profile, emails]) {
      expect(asked?.headers).toMatchObject({
        authorization: 'Bearer access-token-of-this-test',
        accept: 'application/vnd.github+json',
        'user-agent': 'latchkey',
      })
    }
    expect(server.asked.map(({ line }) => line).join()).not.toContain('access-token-of-this-test')
  })

  test('ATK-087 has one id for an account, however the number is written and the login renamed', async () => {
    for (const id of [583231, '583231']) {
      const { provider } = await atGithub({ 'GET https://api.github.com/user': { ...user, id, login: `new-${id}` } })
      expect(await provider.identify(answer)).toMatchObject({ id: '583231' })
    }
  })

  test.each([0, -1, 1.5, 2 ** 53, '0583231', '583231 ', 'ada', '', null, true, [583231], { id: 1 }])(
    'ATK-087 tells nobody by the id %j',
    async (id) => {
      const { provider, log } = await atGithub({ 'GET https://api.github.com/user': { ...user, id } })
      expect(await provider.identify(answer)).toBeNull()
      expect(log).toMatchObject([{ event: 'oauth_failed', provider: 'github', reason: 'no_id' }])
    },
  )

  const none = { email: null, emailVerified: false, authoritative: false }
  const unverified = { email: primary.email, emailVerified: false, authoritative: false }
  const many = Array.from({ length: 100 }, (_, index) => ({ ...primary, email: `${index}@x.test`, primary: false }))
  test.each([
    ['an unverified primary address', [{ ...primary, verified: false }], unverified],
    ['"true" as a text', [{ ...primary, verified: 'true' }], unverified],
    ['no primary address', [{ ...primary, primary: false }], none],
    ['"true" as a text for primary', [{ ...primary, primary: 'true' }], none],
    ['no address', [], none],
    ['a noreply address', [{ ...primary, email: '583231+ada@users.noreply.github.com' }], none],
    ['no text', [{ ...primary, email: 7 }], none],
    ['nothing of use', [null, 7, 'x'], none],
    ['35 addresses, the primary last', [...many.slice(0, 34), primary], { email: primary.email, emailVerified: true }],
  ])('ATK-086 with %s takes no other one, least of all that of the profile', async (_case, emails, expected) => {
    const { provider } = await atGithub({ 'GET https://api.github.com/user/emails': emails })
    expect(await provider.identify(answer)).toMatchObject({ id: '583231', ...expected })
  })

  test('ATK-086 looks for the primary address on further pages, and not without end', async () => {
    const pages =
      (last: object[]): Reply =>
      (asked, response) => {
        const page = new URL(asked.line.slice(4)).searchParams.get('page')
        response.end(JSON.stringify(page === '3' ? last : many))
      }
    const found = await atGithub({ 'GET https://api.github.com/user/emails': pages([primary]) })
    expect(await found.provider.identify(answer)).toMatchObject({ email: primary.email })
    const endless = await atGithub({ 'GET https://api.github.com/user/emails': pages(many) })
    expect(await endless.provider.identify(answer)).toMatchObject(none)
    expect(endless.server.asked).toHaveLength(5)
  })

  test.each([
    ['GET https://api.github.com/user', [], 'user_malformed'],
    ['GET https://api.github.com/user/emails', {}, 'emails_malformed'],
  ])('tells nobody when %s answers something else', async (line, reply, reason) => {
    const { provider, log } = await atGithub({ [line]: reply })
    expect(await provider.identify(answer)).toBeNull()
    expect(log).toMatchObject([{ reason }])
  })

  test('ATK-090 does not take the answer of another provider', async () => {
    const { provider, server, log } = await atGithub()
    expect(await provider.identify({ ...answer, issuer: 'https://accounts.google.com' })).toBeNull()
    expect(await provider.identify({ ...answer, issuer: 'https://github.com.evil.example' })).toBeNull()
    expect(log).toMatchObject([{ reason: 'answer_issuer' }, { reason: 'answer_issuer' }])
    expect(server.asked).toEqual([])
    expect(await provider.identify({ ...answer, issuer: 'https://github.com/login/oauth' })).not.toBeNull()
  })
})
