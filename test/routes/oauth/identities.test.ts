import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createOAuthPeer, type SignedIn, type TestAnswer, type TestClient } from '../../../src/testing.js'
import { ada, sharedSettings, temporaryFolder, testAuth } from '../../support/auth.js'
import {
  adaAtGoogle,
  comeBack,
  enterAs,
  goTo,
  landedAt,
  type OAuthWorld,
  oauthWorld,
  type ProviderName,
  tokenRequests,
} from '../../support/oauth.js'

interface Begun {
  url: string
}

async function linked(client: TestClient): Promise<string[]> {
  const { user } = (await client.get<SignedIn>('/auth/me')).body
  return user.identities.map(({ provider }) => provider)
}

/** Somebody with a password, signed in. */
async function registered() {
  const world = await oauthWorld()
  const browser = world.client()
  await browser.signUp(ada)
  return { ...world, browser }
}

/** Links the whole way. */
async function link(
  { peer }: OAuthWorld,
  browser: TestClient,
  account = adaAtGoogle,
  provider: ProviderName = 'google',
): Promise<TestAnswer> {
  const begun = await browser.post<Begun>(`/auth/oauth/${provider}/link`, {})
  expect(begun.status, begun.text).toBe(200)
  peer.signInAs(account)
  return comeBack(browser, peer.answer(begun.body.url))
}

describe('linking a login', () => {
  it('begins on a page of another site, too: the browser comes here by itself, once, and no secret is in the address', async () => {
    const spa = 'https://app.example.net'
    const world = await oauthWorld({ trustedOrigins: [spa] })
    const { auth, peer } = world
    const browser = world.client()
    await browser.signUp(ada)
    const abroad = { headers: { origin: spa } }
    const begun = await browser.post<Begun>('/auth/oauth/google/link', {}, abroad)
    expect(begun.headers.getSetCookie()).toEqual([])
    const { pathname, search } = new URL(begun.body.url)
    expect(pathname + search).toBe('/auth/oauth/google?link=1')

    // In no other browser, signed in or not.
    expect(landedAt(await world.client().get(pathname + search))).toContain('error=unauthenticated')
    const grace = world.client()
    await grace.signUp({ ...ada, email: 'grace@example.test' })
    expect(landedAt(await grace.get(pathname + search))).toBe('/auth/account?error=oauth_state&provider=google')
    // Nor at another provider.
    expect(landedAt(await browser.get('/auth/oauth/github?link=1'))).toContain('error=oauth_state')

    const wish = encodeURIComponent(`${spa}/settings`)
    const away = landedAt(await browser.get(`${pathname}${search}&redirect=${wish}`)) ?? ''
    peer.signInAs(adaAtGoogle)
    expect(landedAt(await comeBack(browser, peer.answer(away)))).toBe(`${spa}/settings`)
    expect(await linked(browser)).toEqual(['google'])
    expect((await auth.audit.list({ event: 'identity_linked' })).items).toHaveLength(1)
    expect(landedAt(await browser.get(pathname + search))).toContain('error=oauth_state')
  })

  it('asks on a page of another site what it asks elsewhere, and waits no longer than a minute', async () => {
    const spa = 'https://app.example.net'
    const world = await oauthWorld({ trustedOrigins: [spa] })
    const { runtime } = world
    const browser = world.client()
    await browser.signUp(ada)
    const ask = (body: object, provider = 'google') =>
      browser.post<Begun>(`/auth/oauth/${provider}/link`, body, { headers: { origin: spa } })
    expect((await ask({}, 'gitlab')).body).toMatchObject({ code: 'not_found' })
    await ask({})
    await runtime.clock.advance('61s')
    expect(landedAt(await browser.get('/auth/oauth/google?link=1'))).toContain('error=oauth_state')

    await runtime.clock.advance('5m')
    expect((await ask({})).body).toMatchObject({ code: 'recent_login_required' })
    expect((await ask({ password: 'a wrong password' })).body).toMatchObject({ code: 'invalid_credentials' })
    expect(landedAt(await browser.get('/auth/oauth/google?link=1'))).toContain('error=oauth_state')
    expect((await ask({ password: ada.password })).status).toBe(200)
    expect(landedAt(await browser.get('/auth/oauth/google?link=1'))).toContain('accounts.google.com')
  })

  it('begins with a recent sign-in, ends on the account’s page, and tells the owner', async () => {
    const world = await registered()
    const { browser } = world
    expect(landedAt(await link(world, browser))).toBe('/auth/account?done=identity_linked#identities')
    expect(await linked(browser)).toEqual(['google'])
    const mail = await world.mailbox.waitFor(ada.email, /new way to sign in was added/i)
    expect(mail.text).toContain('Google')
    const [event] = (await world.auth.audit.list({ event: 'identity_linked' })).items
    expect(event).toMatchObject({ outcome: 'success', detail: { provider: 'google' } })

    // By another address than the account's: the login counts, not what it is called.
    const other = world.client()
    expect(landedAt(await enterAs(world, other, adaAtGoogle))).toBe('/')
    expect((await other.get<SignedIn>('/auth/me')).body.user.email).toBe(ada.email)
  })

  it('takes the password where the sign-in is older, and refuses a wrong one', async () => {
    const { browser, runtime, auth } = await registered()
    await runtime.clock.advance('5m')
    expect((await browser.post('/auth/oauth/google/link', {})).status).toBe(200)
    await runtime.clock.advance('1s')
    const ask = (password?: string) => browser.post('/auth/oauth/google/link', { password })
    expect((await ask()).body).toMatchObject({ code: 'recent_login_required' })
    expect((await ask('a wrong password')).body).toMatchObject({ code: 'invalid_credentials' })
    expect((await ask(ada.password)).status).toBe(200)
    const [event] = (await auth.audit.list({ event: 'identity_linked' })).items
    expect(event).toMatchObject({ outcome: 'failure' })
  })

  it('is for whoever is signed in in a browser, and for providers that are there', async () => {
    const { browser, client } = await registered()
    const path = '/auth/oauth/google/link'
    expect((await client().post(path, {})).body).toMatchObject({ code: 'unauthenticated' })
    expect((await browser.post('/auth/oauth/gitlab/link', {})).body).toMatchObject({ code: 'not_found' })
    const app = client({ as: 'token' })
    await app.signIn(ada)
    expect((await app.post(path, {})).body).toMatchObject({ code: 'forbidden' })
  })

  it('by a form leads on by a page, which no form-action stops', async () => {
    const { browser, peer } = await registered()
    const page = await browser.submit('/auth/oauth/google/link', { password: '', _redirect: '/settings' })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    const [, escaped = ''] = /<meta http-equiv="refresh" content="0;url=([^"]+)">/.exec(page.text) ?? []
    const url = escaped.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=')
    expect(page.text).toContain(`<a href="${escaped}">`)
    peer.signInAs(adaAtGoogle)
    expect(landedAt(await comeBack(browser, peer.answer(url)))).toBe('/settings')

    const refused = await browser.submit('/auth/oauth/google/link', { password: 'a wrong password' })
    expect(refused.url.pathname + refused.url.search).toBe('/auth/account?error=invalid_credentials&at=identities')
  })

  it('of one’s own login again is fine, of another’s and of a second one is refused on the account’s page', async () => {
    const world = await registered()
    await link(world, world.browser)
    expect(landedAt(await link(world, world.browser))).toBe('/auth/account?done=identity_linked#identities')
    const taken = '/auth/account?error=identity_taken&provider=google'
    expect(landedAt(await link(world, world.browser, { ...adaAtGoogle, id: '43' }))).toBe(taken)
    const grace = world.client()
    await grace.signUp({ ...ada, email: 'grace@example.test' })
    expect(landedAt(await link(world, grace))).toBe(taken)
    expect([await linked(world.browser), await linked(grace)]).toEqual([['google'], []])
    const events = (await world.auth.audit.list({ event: 'identity_linked' })).items
    expect(events).toHaveLength(1)
  })

  it('links nothing where the account is deleted meanwhile, and asks the provider nothing', async () => {
    const { browser, peer, auth } = await registered()
    const { body } = await browser.post<Begun>('/auth/oauth/google/link', {})
    peer.signInAs(adaAtGoogle)
    await auth.users.delete((await auth.users.findByEmail(ada.email))?.id ?? '')
    expect(landedAt(await comeBack(browser, peer.answer(body.url)))).toBe(
      '/auth/login?error=oauth_state&provider=google',
    )
    expect(tokenRequests({ peer })).toBe(0)
  })

  it('links nothing where the account is deleted while we ask the provider', async () => {
    const peer = createOAuthPeer()
    let meanwhile = async () => {}
    const world = await oauthWorld(
      {},
      {
        ...peer,
        async fetch(input, init) {
          await meanwhile()
          return peer.fetch(input, init)
        },
      },
    )
    const browser = world.client()
    await browser.signUp(ada)
    const { id } = (await browser.get<SignedIn>('/auth/me')).body.user
    meanwhile = async () => {
      if (await world.auth.users.get(id)) await world.auth.users.delete(id)
    }
    expect(landedAt(await link(world, browser))).toBe('/auth/login?error=oauth_state&provider=google')
    expect(tokenRequests(world)).toBe(1)
    const [event] = (await world.auth.audit.list({ event: 'login' })).items
    expect(event).toMatchObject({ outcome: 'failure', detail: { method: 'oauth:google', reason: 'oauth_state' } })
  })

  it('that the user denies at the provider leads back to the account’s page', async () => {
    const { browser, peer } = await registered()
    const { body } = await browser.post<Begun>('/auth/oauth/google/link', {})
    expect(landedAt(await comeBack(browser, peer.refuse(body.url)))).toBe(
      '/auth/account?error=oauth_denied&provider=google',
    )
  })

  it('is finished by a browser whose access token has run out meanwhile', async () => {
    const { browser, peer, runtime } = await registered()
    await runtime.clock.advance('12m')
    const { body } = await browser.post<Begun>('/auth/oauth/google/link', { password: ada.password })
    await runtime.clock.advance('5m')
    expect(browser.cookies.get('access-token')).toBeNull()
    peer.signInAs(adaAtGoogle)
    expect(landedAt(await comeBack(browser, peer.answer(body.url)))).toBe(
      '/auth/account?done=identity_linked#identities',
    )
  })

  it('is finished by a browser that has lost its refresh token, too', async () => {
    const { browser, peer } = await registered()
    const { body } = await browser.post<Begun>('/auth/oauth/google/link', {})
    browser.cookies.clear('refresh-token')
    peer.signInAs(adaAtGoogle)
    expect(landedAt(await comeBack(browser, peer.answer(body.url)))).toBe(
      '/auth/account?done=identity_linked#identities',
    )
  })
})

describe('cookies that no other site’s navigation brings', () => {
  it('get a page of ours in between, before anything is used up', async () => {
    const world = await oauthWorld({ cookies: { sameSite: 'strict' } })
    const browser = world.client()
    await browser.signUp(ada)
    const { body } = await browser.post<Begun>('/auth/oauth/google/link', {})
    world.peer.signInAs(adaAtGoogle)
    const callback = world.peer.answer(body.url)
    const page = await comeBack(world.client(), callback)
    expect(page.status).toBe(200)
    expect([page.cookies, tokenRequests(world)]).toEqual([[], 0])
    const [, escaped = ''] = /<meta http-equiv="refresh" content="0;url=([^"]+)">/.exec(page.text) ?? []
    const here = new URL(escaped.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='), callback)
    expect(here.href).toBe(`${callback}&here=1`)
    expect(landedAt(await browser.get(here.pathname + here.search))).toBe(
      '/auth/account?done=identity_linked#identities',
    )
  })
})

describe('the mail of somebody who has no password, opened from a web mailer', () => {
  it.each(['lax', 'strict'] as const)(
    'asks for none in the browser that registered, with %s cookies',
    async (sameSite) => {
      const world = await oauthWorld({ cookies: { sameSite } })
      const browser = world.client()
      const email = 'ada@company.test'
      world.peer.signInAs({ id: '7', email, name: 'Ada' })
      await comeBack(browser, `${world.peer.answer(await goTo(browser, 'company'))}&here=1`)
      expect((await browser.post('/auth/register/identity', { email })).status).toBe(202)
      const { pathname, search } = new URL(world.mailbox.link(await world.mailbox.waitFor(email)))

      // No browser brings a strict cookie along with a click on another site.
      const clicked = world.client()
      for (const cookie of browser.cookies.all()) if (cookie.sameSite === 'lax') clicked.cookies.put(cookie)
      const page = await clicked.get(pathname + search)
      expect(page.text).toContain('name="token"')
      expect(page.text).not.toContain('type="password"')
      const elsewhere = await world.client().get(pathname + search)
      expect(elsewhere.text).toContain('If you chose none, go on in the browser you registered with')
    },
  )
})

describe('taking a login away', () => {
  it('leaves the session, tells the owner, and the login opens nothing more', async () => {
    const world = await registered()
    const { browser } = world
    await link(world, browser)
    const gone = await browser.delete('/auth/identities/google')
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect(await linked(browser)).toEqual([])
    const mail = await world.mailbox.waitFor(ada.email, /was removed/)
    expect(mail.text).toContain('Google')
    const { user, session } = (await browser.get<SignedIn>('/auth/me')).body
    expect((await world.auth.audit.list({ event: 'identity_unlinked' })).items).toEqual([
      expect.objectContaining({
        outcome: 'success',
        userId: user.id,
        sessionId: session.id,
        detail: { provider: 'google' },
      }),
    ])
    const other = world.client()
    await enterAs(world, other, adaAtGoogle)
    expect((await other.get<SignedIn>('/auth/me')).body.user.email).toBe(adaAtGoogle.email)
    expect((await browser.delete('/auth/identities/google')).body).toMatchObject({ code: 'not_found' })
  })

  it('asks for the password or a recent sign-in, and never takes the last way in', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    await enterAs(world, browser, adaAtGoogle)
    const path = '/auth/identities/google'
    expect((await browser.delete(path)).body).toMatchObject({ code: 'last_credential' })
    await world.runtime.clock.advance('301s')
    expect((await browser.delete(path)).body).toMatchObject({ code: 'recent_login_required' })
    expect((await browser.delete(path, { password: 'whatever it is' })).body).toMatchObject({
      code: 'recent_login_required',
    })
    const form = await browser.submit(path, { _method: 'DELETE', password: '' })
    expect(form.url.search).toBe('?error=recent_login_required&at=identities')
    expect(await linked(browser)).toEqual(['google'])
  })

  it('takes that one alone, and of one that is not there says so before it asks for anything', async () => {
    const world = await registered()
    const { browser, runtime, auth } = world
    await link(world, browser, { ...adaAtGoogle, id: '7' }, 'github')
    await runtime.clock.advance('301s')
    expect((await browser.delete('/auth/identities/google')).body).toMatchObject({ code: 'not_found' })
    const wrong = await browser.delete('/auth/identities/google', { password: 'a wrong password' })
    expect(wrong.body).toMatchObject({ code: 'not_found' })
    expect((await auth.audit.list({ event: 'identity_unlinked' })).items).toEqual([])

    await browser.signIn(ada)
    await link(world, browser)
    expect((await browser.delete('/auth/identities/google')).status).toBe(204)
    expect(await linked(browser)).toEqual(['github'])
  })

  it('works for one of a provider that the settings name no more; the mail calls it by its name in addresses', async () => {
    const shared = sharedSettings()
    const world = await oauthWorld(shared)
    const before = world.client()
    await before.signUp(ada)
    await link(world, before)
    await world.auth.close()

    const { client, mailbox } = await testAuth(shared, world.runtime)
    const browser = client()
    for (const cookie of before.cookies.all()) browser.cookies.put(cookie)
    expect((await browser.delete('/auth/identities/google')).status).toBe(204)
    const mail = await mailbox.waitFor(ada.email, /was removed/)
    expect(mail.text).toContain('The link between your account and google was removed.')
  })

  it('is told by templates of the application, which learn whether one came or went', async () => {
    const templates = temporaryFolder()
    mkdirSync(join(templates, 'mail/identity-changed'), { recursive: true })
    const subject = '{{#if linked}}came{{/if}}{{#if unlinked}}went{{/if}}'
    writeFileSync(join(templates, 'mail/identity-changed/subject.txt.hbs'), subject)
    const world = await oauthWorld({ templates })
    const browser = world.client()
    await browser.signUp(ada)
    await link(world, browser)
    await browser.delete('/auth/identities/google')
    await world.mailbox.waitFor(ada.email, /^came$/)
    await world.mailbox.waitFor(ada.email, /^went$/)
  })

  it('by a form ends on the account’s page', async () => {
    const world = await registered()
    await link(world, world.browser)
    const form = await world.browser.submit('/auth/identities/google', { _method: 'DELETE', password: ada.password })
    expect(form.url.pathname + form.url.search).toBe('/auth/account?done=identity_removed')
  })
})

describe('an account without a password', () => {
  it('gets one by a recent sign-in, and can be deleted by one', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    await enterAs(world, browser, adaAtGoogle)
    await world.runtime.clock.advance('301s')
    for (const answer of [
      await browser.post('/auth/password/change', { newPassword: ada.password }),
      await browser.delete('/auth/me', {}),
      await browser.post('/auth/two-factor/totp', {}),
    ]) {
      expect(answer.body).toMatchObject({ code: 'recent_login_required' })
    }
    await enterAs(world, browser, adaAtGoogle)
    expect((await browser.post('/auth/password/change', { newPassword: ada.password })).status).toBe(200)
    await world.client().signIn({ email: adaAtGoogle.email, password: ada.password })
    expect((await browser.delete('/auth/identities/google', { password: ada.password })).status).toBe(204)

    await enterAs(world, browser, { id: '7', email: 'grace@gmail.com' })
    expect((await browser.delete('/auth/me', {})).status).toBe(204)
    expect(await world.auth.users.findByEmail('grace@gmail.com')).toBeNull()
  })

  it('gets one by a mailed link, too, and keeps its logins', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    await enterAs(world, browser, adaAtGoogle)
    await browser.post('/auth/password/forgot', { email: adaAtGoogle.email })
    const token = world.mailbox.token(await world.mailbox.waitFor(adaAtGoogle.email, 'Choose a new password'))
    expect((await browser.post('/auth/password/reset', { token, password: ada.password })).status).toBe(200)
    expect(landedAt(await enterAs(world, browser, adaAtGoogle))).toBe('/')
    expect(await linked(browser)).toEqual(['google'])
  })
})
