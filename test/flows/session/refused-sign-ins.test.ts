import { describe, expect, test } from 'vitest'
import { type Auth, AuthError } from '../../../src/index.js'
import { ada, testAuth } from '../../support/auth.js'
import { guess, inTurn, limitedAuth } from '../../support/limits.js'
import { adaAtGoogle, comeBack, enterAs, landedAt, oauthWorld } from '../../support/oauth.js'
import { enrol, firstStep } from '../../support/totp.js'

/** What is written down of sign-ins that failed, newest first. */
async function failures(auth: Pick<Auth, 'audit'>) {
  const { items } = await auth.audit.list({ event: 'login', limit: 50 })
  return items.flatMap(({ outcome, userId, detail }) => (outcome === 'failure' ? [{ userId, detail }] : []))
}

describe('ATK-112 written down as a sign-in that failed', () => {
  test('is a newcomer from a provider where registration is closed', async () => {
    const world = await oauthWorld({ registration: { enabled: false } })
    expect(landedAt(await enterAs(world, world.client(), adaAtGoogle))).toContain('error=registration_disabled')
    const detail = { method: 'oauth:google', reason: 'registration_disabled' }
    expect(await failures(world.auth)).toEqual([{ userId: null, detail }])
  })

  test('is a login at a provider that belongs to somebody else, of whoever tried to link it', async () => {
    const world = await oauthWorld()
    await enterAs(world, world.client(), adaAtGoogle)
    const browser = world.client()
    const { body } = await browser.signUp(ada)
    const asked = await browser.post<{ url: string }>('/auth/oauth/google/link', { password: ada.password })
    world.peer.signInAs(adaAtGoogle)
    const answer = await comeBack(browser, world.peer.answer(asked.body.url))
    expect(landedAt(answer)).toContain('error=identity_taken')
    const detail = { method: 'oauth:google', reason: 'identity_taken' }
    expect(await failures(world.auth)).toEqual([{ userId: body.user.id, detail }])
  })

  test.each(['beforeRegister', 'beforeLogin'])('is what %s refuses to somebody from a provider', async (name) => {
    const hook = () => {
      throw new AuthError('forbidden')
    }
    const world = await oauthWorld({ hooks: { [name]: hook } })
    expect(landedAt(await enterAs(world, world.client(), adaAtGoogle))).toContain('error=forbidden')
    const userId = (await world.auth.users.findByEmail(adaAtGoogle.email))?.id ?? null
    const detail = { method: 'oauth:google', reason: 'forbidden' }
    expect(await failures(world.auth)).toEqual([{ userId, detail }])
  })

  test('is what a hook refuses to a right password, or breaks at', async () => {
    let code: 'forbidden' | 'hook_failed' | null = null
    const world = await testAuth({
      hooks: {
        beforeLogin() {
          if (code) throw code === 'forbidden' ? new AuthError(code) : new TypeError('broken')
        },
      },
    })
    const { body } = await world.client().signUp(ada)
    for (code of ['forbidden', 'hook_failed'] as const) await world.client().post('/auth/login', ada)
    const details = ['hook_failed', 'forbidden'].map((reason) => ({ method: 'password', reason }))
    expect(await failures(world.auth)).toEqual(details.map((detail) => ({ userId: body.user.id, detail })))
  })

  test('ATK-010 is each password that too many others were tried before, with and without an account', async () => {
    const { auth, client } = await limitedAuth()
    const { body } = await client().signUp(ada)
    for (const [email, userId, ip] of [
      [ada.email, body.user.id, '198.51.100.1'],
      ['nobody@example.test', null, '198.51.100.2'],
    ] as const) {
      const stranger = client({ ip })
      expect((await inTurn(12, () => guess(stranger, email))).slice(10)).toEqual([429, 429])
      const newest = (await failures(auth)).slice(0, 3)
      expect(newest.map((event) => event.userId)).toEqual([userId, userId, userId])
      expect(newest.map(({ detail }) => detail.reason)).toEqual(['rate_limited', 'rate_limited', undefined])
    }
  })

  test('is each code that too many others were tried before, of a mail and of an authenticator', async () => {
    const { auth, client, mailbox, runtime } = await limitedAuth()
    const browser = client()
    const { body } = await browser.signUp(ada)
    const userId = body.user.id
    const factor = await enrol(browser, ada.password, runtime.clock)

    const other = client({ ip: '198.51.100.1' })
    for (let challenge = 0; challenge < 5; challenge += 1) {
      const text = await firstStep(other, ada)
      const tries = challenge === 4 ? 1 : 5
      await inTurn(tries, () => other.post('/auth/login/two-factor', { challenge: text, code: factor.wrongCode() }))
      await runtime.clock.advance('1m')
    }
    expect((await failures(auth))[0]).toEqual({ userId, detail: { method: 'password', reason: 'rate_limited' } })

    const app = client({ ip: '198.51.100.2' })
    await app.post('/auth/otp', { email: ada.email })
    await mailbox.waitFor(ada.email, /code/)
    for (let minute = 0; minute < 3; minute += 1) {
      await inTurn(7, () => app.post('/auth/otp/verify', { email: ada.email, code: 'wrong' }))
      await runtime.clock.advance('1m')
    }
    expect((await failures(auth))[0]).toEqual({ userId, detail: { method: 'otp', reason: 'rate_limited' } })
  })
})

test('registration_requested failed where the address has an account', async () => {
  const { auth, client } = await testAuth()
  const { body } = await client().signUp(ada)
  for (const email of [ada.email, 'nobody@example.test']) await client().post('/auth/register', { ...ada, email })
  const { items } = await auth.audit.list({ event: 'registration_requested', limit: 2 })
  expect(items).toMatchObject([
    { outcome: 'success', userId: null },
    { outcome: 'failure', userId: body.user.id },
  ])
})
