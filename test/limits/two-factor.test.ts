import { describe, expect, test } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { attackServer } from '../support/attack-server.js'
import { ada, type TestAuth } from '../support/auth.js'
import { inTurn, ipOf, leap, limitedAuth, times } from '../support/limits.js'
import { enrol, type Factor, firstStep, totpCode } from '../support/totp.js'

const path = '/auth/login/two-factor'
const otpSubject = 'Your code to sign in'
const resetSubject = 'Choose a new password'
const newPassword = 'analytical engine 1843'
const optional = { registration: { emailVerification: 'optional' } } as const

type World = Pick<TestAuth, 'client' | 'mailbox'>

/** Guesses wrongly that often, each time from another address; the statuses. */
function guessed({ client }: World, factor: Factor, guesses: number): Promise<number[]> {
  return inTurn(guesses, async (index) => {
    const one = client({ ip: ipOf(index) })
    return one.post(path, { challenge: await firstStep(one, ada), code: factor.wrongCode() })
  })
}

/** Proves the mailbox in that browser, by a mailed code or a reset and a sign-in; what the sign-in was answered with. */
async function provesMailbox({ mailbox }: Pick<World, 'mailbox'>, by: 'code' | 'reset', browser: TestClient) {
  if (by === 'code') {
    await browser.post('/auth/otp', { email: ada.email })
    const code = mailbox.code(await mailbox.waitFor(ada.email, otpSubject))
    return browser.post<{ challenge?: string }>('/auth/otp/verify', { email: ada.email, code })
  }
  await browser.post('/auth/password/forgot', { email: ada.email })
  const token = mailbox.token(await mailbox.waitFor(ada.email, resetSubject))
  expect((await browser.post('/auth/password/reset', { token, password: newPassword })).status).toBe(200)
  return browser.post<{ challenge?: string }>('/auth/login', { ...ada, password: newPassword })
}

async function setsUp(browser: TestClient, by: 'code' | 'reset', { runtime: { clock } }: TestAuth) {
  const proof = by === 'code' ? {} : { password: newPassword }
  const { body } = await browser.post<{ secret: string }>('/auth/two-factor/totp', proof)
  return browser.post('/auth/two-factor/totp/confirm', { code: totpCode(body.secret, clock.now()) })
}

describe.each(['code', 'reset'] as const)('the first proof of a mailbox, by a %s,', (by) => {
  test('ATK-057 lets the owner set up a factor, however much a stranger has guessed at a planted one', async () => {
    const limits = { guess: { account: '100/1h' } }
    const world = await limitedAuth({ limits, twoFactor: { required: true }, ...optional })
    const stranger = world.client({ ip: ipOf(500) })
    await stranger.post('/auth/register', ada)
    const strangersFactor = await enrol(stranger, ada.password, world.runtime.clock)
    expect(await guessed(world, strangersFactor, 101)).toEqual([...times(100, 401), 429])
    await leap(world, 24 * 3_600)

    const owner = world.client({ ip: ipOf(501) })
    expect((await provesMailbox(world, by, owner)).status).toBe(200)
    expect((await setsUp(owner, by, world)).status).toBe(200)
    expect((await owner.get('/api/x')).status).toBe(200)
  })

  test('ATK-057 forgets what was guessed at a planted factor together with it', async () => {
    const server = await attackServer({ file: true, settings: { limits: {}, ...optional } })
    const countersOfSeven = () => server.sql('select id from latchkey_counters where long_hits = 7').length
    try {
      const stranger = server.client()
      await stranger.post('/auth/register', ada)
      const strangersFactor = await enrol(stranger, ada.password, server.runtime.clock)
      for (let nth = 0; nth < 7; nth += 1) {
        const other = server.client()
        await other.post(path, { challenge: await firstStep(other, ada), code: strangersFactor.wrongCode() })
      }
      expect(countersOfSeven()).toBe(1)
      expect((await provesMailbox(server, by, server.client())).status).toBe(200)
      expect(countersOfSeven()).toBe(0)
    } finally {
      await server.close()
    }
  })
})

describe('guesses at a factor', () => {
  test('ATK-050 are not forgotten by a code from the mailbox of a verified account', async () => {
    const world = await limitedAuth({ limits: { guess: { account: '3/1h' } } })
    const owner = world.client({ ip: ipOf(500) })
    await owner.signUp(ada)
    const own = await enrol(owner, ada.password, world.runtime.clock)
    expect(await guessed(world, own, 4)).toEqual([...times(3, 401), 429])
    const reader = world.client({ ip: ipOf(501) })
    const { challenge } = (await provesMailbox(world, 'code', reader)).body
    const answer = await reader.post(path, { challenge, code: await own.nextCode() })
    expect(answer.body).toMatchObject({ status: 429, code: 'rate_limited' })
  })

  test('ATK-053 that is being set up count on the set-up alone', async () => {
    const world = await limitedAuth({ limits: { guess: { account: '3/1h' } } })
    const owner = world.client()
    await owner.signUp(ada)
    const confirm = () => owner.post('/auth/two-factor/totp/confirm', { code: 'aaaaaa' })
    for (const begin of [1, 2]) {
      const begun = await owner.post('/auth/two-factor/totp', { password: ada.password })
      expect(begun.status, `set-up ${begin}`).toBe(200)
      expect(await inTurn(6, confirm)).toEqual([...times(5, 401), 400])
    }
    await enrol(owner, ada.password, world.runtime.clock)
  })
})
