import { describe, expect, it } from 'vitest'
import type { TestAnswer } from '../../../src/testing.js'
import { ada, sharedSettings, testAuth } from '../../support/auth.js'
import { adaAtGoogle, comeBack, enterAs, oauthWorld } from '../../support/oauth.js'

const page = '/auth/account'

function at({ url }: TestAnswer<unknown>): string {
  return `${url.pathname}${url.search}${url.hash}`
}

/** Signed in with a password, at a Latchkey with providers. */
async function signedUp() {
  const world = await oauthWorld()
  const browser = world.client()
  await browser.signUp(ada)
  return { ...world, browser }
}

describe('linked sign-ins on the account page', () => {
  it('are linked by a form that leads to the provider, and removed by another', async () => {
    const { browser, peer } = await signedUp()
    const before = await browser.open(page)
    expect(before.text).toContain('action="/auth/oauth/google/link"')
    expect(before.text).not.toContain('id="link-google"')

    const going = await browser.submit('/auth/oauth/google/link', {})
    expect(going.status).toBe(200)
    const [, url = ''] = /href="(https:[^"]+)"/.exec(going.text) ?? []
    peer.signInAs(adaAtGoogle)
    const landed = await comeBack(browser, peer.answer(url.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&')))
    expect(landed.headers.get('location')).toBe(`${page}?done=identity_linked#identities`)
    const linked = await browser.open(`${page}?done=identity_linked`)
    expect(linked.text).toContain('You can sign in with it from now on.')
    expect(linked.text).toContain('action="/auth/identities/google"')
    expect(linked.text).not.toContain('action="/auth/oauth/google/link"')
    expect(linked.text).toMatch(/<svg viewBox="0 0 48 48">.*<\/svg><\/span>Google<\/strong>/)
    expect(linked.text).toContain('action="/auth/oauth/github/link"')

    const removed = await browser.submit('/auth/identities/google', { _method: 'DELETE' })
    expect(at(removed)).toBe(`${page}?done=identity_removed#identities`)
    expect(removed.text).toContain('action="/auth/oauth/google/link"')
  })

  it('are still there once the settings know the provider no more', async () => {
    const shared = sharedSettings()
    const world = await oauthWorld(shared)
    const browser = world.client()
    await browser.signUp(ada)
    const begun = await browser.post<{ url: string }>('/auth/oauth/google/link', {})
    world.peer.signInAs(adaAtGoogle)
    await comeBack(browser, world.peer.answer(begun.body.url))
    const without = await testAuth(shared, world.runtime)
    const later = without.client()
    await later.signIn(ada)
    const shown = await later.open(page)
    expect(shown.text).toContain('</span>google</strong>')
    expect(shown.text).toContain('action="/auth/identities/google"')
    const removed = await later.submit('/auth/identities/google', { _method: 'DELETE' })
    expect(at(removed)).toBe(`${page}?done=identity_removed#identities`)
    expect(removed.text).not.toContain('</span>google</strong>')
  })

  it('ask for the password once the sign-in is old, and say when it is wrong', async () => {
    const { browser, runtime } = await signedUp()
    await runtime.clock.advance('301s')
    expect((await browser.open(page)).text).toContain('id="link-google"')
    const wrong = await browser.submit('/auth/oauth/google/link', { password: 'not the password' })
    expect(at(wrong)).toBe(`${page}?error=invalid_credentials&at=identities#identities`)
    expect(wrong.text).toMatch(
      /id="identities-title">[^<]*<\/h2>\s*<p>[^<]*<\/p>\s*<\/header>\s*<p class="error"[^>]*>The password is wrong\./,
    )
    expect((await browser.submit('/auth/oauth/google/link', { password: ada.password })).status).toBe(200)
  })

  it('are never the last way in', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    await enterAs(world, browser, adaAtGoogle)
    const shown = await browser.open(page)
    expect(shown.text).toMatch(/<svg viewBox="0 0 48 48">.*<\/svg><\/span>Google<\/strong>/)
    expect(shown.text).not.toContain('action="/auth/identities/google"')
    expect(shown.text).toContain('<br>This is the last way into the account.</small>')
    const kept = await browser.submit('/auth/identities/google', { _method: 'DELETE' })
    expect(at(kept)).toBe(`${page}?error=last_credential&at=identities#identities`)
    expect(kept.text).toMatch(/<p class="error"[^>]*>This is the last way into the account\./)
  })

  it('are finished first by whoever came from a provider that the account does not know yet', async () => {
    const { browser } = await signedUp()
    const asked = await browser.open(`${page}?link=google`)
    expect(asked.text).toContain('Finish linking Google')
    expect(asked.text.indexOf('Finish linking Google')).toBeLessThan(asked.text.indexOf('id="profile"'))
    expect((await browser.open(`${page}?link=nobody`)).text).not.toContain('Finish linking')
    const failed = await browser.open(`${page}?error=identity_taken&provider=google`)
    expect(failed.text).toMatch(/id="identities-title">[^<]*<\/h2>\s*<p>[^<]*<\/p>\s*<\/header>\s*<p class="error"/)
  })

  it('lead whoever must prove a second factor to setting one up', async () => {
    const world = await oauthWorld({ twoFactor: { required: true } })
    const entered = await enterAs(world, world.client(), adaAtGoogle, 'google', '?redirect=/inbox')
    expect(entered.headers.get('location')).toBe('/auth/account?enrol=1&redirect=%2Finbox')
  })
})
