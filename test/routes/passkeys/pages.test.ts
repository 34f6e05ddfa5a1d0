import { describe, expect, it } from 'vitest'
import type { TestClient } from '../../../src/testing.js'
import { ada } from '../../support/auth.js'
import { createAuthenticator } from '../../support/authenticator.js'
import { addPasskey, origin, passkeyLogin, requestOptions, withPasskey } from '../../support/passkey-browser.js'
import { enrol } from '../../support/totp.js'

const required = { twoFactor: { required: true } }
const code = 'id="code"'
const asksForPasskey = 'data-passkey="second-step"'
const confirms = 'data-passkey="confirm"'

async function page(client: TestClient, path: string): Promise<string> {
  const { text } = await client.get(`/auth${path}`)
  return text.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&')
}

describe('the page of the second step', () => {
  it('asks for the passkey alone where the account has no authenticator app', async () => {
    const { client } = await withPasskey(required)
    const phone = client()
    await phone.post('/auth/login', ada)
    const text = await page(phone, '/two-factor')
    expect([text.includes(code), text.includes(asksForPasskey)]).toEqual([false, true])
    expect(text).toContain('Confirm with your passkey that it is you.')
    expect(text).toContain('<noscript><p>A passkey needs scripts.')
  })

  it('asks for a code, or the passkey instead, where it has both', async () => {
    const { client, browser, runtime } = await withPasskey()
    await enrol(browser, ada.password, runtime.clock)
    const phone = client()
    await phone.post('/auth/login', ada)
    const text = await page(phone, '/two-factor')
    expect([text.includes(code), text.includes(asksForPasskey)]).toEqual([true, true])
    expect(text).toContain('Use a passkey instead')
    expect(text).not.toContain('<noscript>')
  })
})

describe('where a second factor is required', () => {
  it('a session without one is offered the passkey of its account', async () => {
    const { browser, device } = await withPasskey(required)
    for (const path of ['/two-factor/setup', '/account']) expect(await page(browser, path)).toContain(confirms)
    const response = device.sign(await requestOptions(browser, '/auth/reauthenticate/options'))
    expect((await browser.post('/auth/reauthenticate', { response })).status).toBe(200)
    expect((await browser.get('/api/notes')).status).toBe(200)
    expect(await page(browser, '/account')).not.toContain(confirms)
  })

  it('an account without a passkey is led to the page that adds one', async () => {
    const { client } = await withPasskey(required)
    const other = client()
    await other.signUp({ ...ada, email: 'eve@example.test' })
    const text = await page(other, '/two-factor/setup?redirect=/notes')
    // The setup page again, which then asks for the passkey that was added.
    expect(text).toContain('href="/auth/passkeys/new?redirect=%2Fauth%2Ftwo-factor%2Fsetup%3Fredirect%3D%252Fnotes"')
    await addPasskey(other, createAuthenticator({ origin }))
    expect(await page(other, '/two-factor/setup?redirect=/notes')).toContain('data-next="/notes"')
  })
})

it('an older sign-in adds its passkey on the account page, which asks for the password', async () => {
  const { client, runtime } = await withPasskey(required)
  const other = client()
  await other.signUp({ ...ada, email: 'eve@example.test' })
  await runtime.clock.advance('6m')
  const text = await page(other, '/two-factor/setup')
  expect(text).toContain('href="/auth/account#passkeys"')
  expect(await page(other, '/account')).toContain('id="passkey-password"')
})

describe('the passkey that a sign-in by password asks for in passing', () => {
  it('is asked for once, however often the password is wrong', async () => {
    const { client } = await withPasskey()
    const phone = client()
    const upgrade = /data-upgrade="([^"]*)"/
    const [, first = ''] = upgrade.exec(await page(phone, '/login?redirect=/notes')) ?? []
    expect(first).toBe('/auth/passkeys/new?upgrade=1&redirect=%2Fnotes')
    const again = new URLSearchParams({ error: 'invalid_credentials', redirect: first })
    const [, second] = upgrade.exec(await page(phone, `/login?${again}`)) ?? []
    expect(second).toBe(first)
  })

  it('is not asked for after a sign-in by passkey', async () => {
    const { client, device } = await withPasskey()
    const phone = client()
    await passkeyLogin(phone, device)
    const answer = await phone.get('/auth/passkeys/new?upgrade=1&redirect=/notes')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/notes'])
  })
})
