import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { type AttackServer, attackServer, claimsOf, expectRefusal, heldTokens } from '../support/attack-server.js'
import { ada, sharedSettings, testAuth } from '../support/auth.js'
import { ipOf, limitedAuth } from '../support/limits.js'
import { enrol, type Factor, firstStep, totpCode } from '../support/totp.js'

const path = '/auth/login/two-factor'
const otpSubject = 'Your code to sign in'
const crowd = Array.from({ length: 20 })

let server: AttackServer
let serial = 0
let account = ada
let browser: TestClient
let factor: Factor

beforeAll(async () => {
  server = await attackServer({ file: true })
})
afterAll(() => server.close())
beforeEach(async () => {
  serial += 1
  account = { ...ada, email: `ada${serial}@example.test` }
  browser = server.client()
  await browser.signUp(account)
  factor = await enrol(browser, ada.password, server.runtime.clock)
  await server.runtime.clock.advance('30s')
})

function pass(challenge: string, code: string, client: TestClient = server.client()) {
  return client.post(path, { challenge, code })
}

function challenged(): Promise<string> {
  return firstStep(server.client(), account)
}

function sessions(): number {
  const query =
    'select count(*) as n from latchkey_sessions where user_id = (select id from latchkey_users where email = ?)'
  return server.sql<{ n: number }>(query, account.email)[0]?.n ?? 0
}

describe('replay', () => {
  it('ATK-048 a code opens one session, however often it comes within its half minute', async () => {
    const code = factor.code()
    expect((await pass(await challenged(), code)).status).toBe(200)
    for (let again = 0; again < 3; again += 1) {
      expect((await pass(await challenged(), code)).body).toMatchObject({ status: 401, code: 'invalid_code' })
    }
  })

  it('ATK-048 an older code is refused once a newer one was used', async () => {
    const older = factor.code()
    const newer = await factor.nextCode()
    expect((await pass(await challenged(), newer)).status).toBe(200)
    expect((await pass(await challenged(), older)).body).toMatchObject({ code: 'invalid_code' })
    const ahead = totpCode(factor.secret, server.runtime.clock.now() + 30_000)
    expect((await pass(await challenged(), ahead)).status).toBe(200)
    await server.runtime.clock.advance('30s')
    expect((await pass(await challenged(), factor.code())).body).toMatchObject({ code: 'invalid_code' })
  })

  it('ATK-048 of many requests with one challenge and code at once, one opens a session', async () => {
    const before = sessions()
    const challenge = await challenged()
    const code = factor.code()
    const statuses = (await Promise.all(crowd.map(() => pass(challenge, code)))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.every((status) => [200, 400, 401].includes(status))).toBe(true)
    expect(sessions()).toBe(before + 1)
  })

  it('ATK-048 of two instances on one store that get the code at once, one opens a session', async () => {
    const settings = sharedSettings()
    const first = await testAuth(settings)
    const second = await testAuth(settings, first.runtime)
    const setUp = first.client()
    await setUp.signUp(ada)
    const { clock } = first.runtime
    const own = await enrol(setUp, ada.password, clock)
    for (let round = 0; round < 5; round += 1) {
      const code = await own.nextCode()
      const challenge = await firstStep(first.client(), ada)
      const answers = await Promise.all(
        crowd.map((_, index) => (index % 2 === 0 ? first : second).client().post(path, { challenge, code })),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    }
    const both = [await firstStep(first.client(), ada), await firstStep(second.client(), ada)]
    const code = await own.nextCode()
    const answers = await Promise.all([
      first.client().post(path, { challenge: both[0], code }),
      second.client().post(path, { challenge: both[1], code }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  it('ATK-049 the code that set the factor up signs nobody in', async () => {
    const fresh = { ...ada, email: `fresh${serial}@example.test` }
    const client = server.client()
    await client.signUp(fresh)
    const own = await enrol(client, ada.password, server.runtime.clock)
    const answer = await pass(await firstStep(server.client(), fresh), own.code())
    expect(answer.body).toMatchObject({ status: 401, code: 'invalid_code' })
    expect((await pass(await firstStep(server.client(), fresh), await own.nextCode())).status).toBe(200)
  })

  it('ATK-008 wrong and replayed codes are refused in the same words, dead and unknown challenges too', async () => {
    const used = factor.code()
    const usedChallenge = await challenged()
    await pass(usedChallenge, used)
    const usedBackup = factor.backupCodes[0] ?? ''
    await pass(await challenged(), usedBackup)
    const words = (answers: { status: number; body: unknown }[]) =>
      new Set(answers.map(({ status, body }) => JSON.stringify({ status, ...Object(body), requestId: '' })))

    const codes = []
    for (const code of [used, usedBackup, factor.wrongCode(), 'aaaaa-aaaaa', 'x']) {
      codes.push(await pass(await challenged(), code))
    }
    expect(words(codes).size).toBe(1)
    const sameBrowser = server.client()
    const replaced = await firstStep(sameBrowser, account)
    await firstStep(sameBrowser, account)
    const dead = [await pass(usedChallenge, used), await pass('unknown', used), await pass(replaced, factor.code())]
    expect(words(dead).size).toBe(1)
    expect(dead[0]?.body).toMatchObject({ status: 400, code: 'invalid_token' })
  })
})

describe('guessing', () => {
  it('ATK-050 a challenge is dead after five wrong codes, also for the right one', async () => {
    const challenge = await challenged()
    for (let guess = 0; guess < 5; guess += 1) {
      expect((await pass(challenge, factor.wrongCode())).body).toMatchObject({ code: 'invalid_code' })
    }
    expect((await pass(challenge, factor.code())).body).toMatchObject({ status: 400, code: 'invalid_token' })
    expect((await pass(await challenged(), factor.code())).status).toBe(200)
  })

  it('ATK-050 of many guesses at one challenge at once, five are compared', async () => {
    const challenge = await challenged()
    const codes = crowd.map((_, index) => String(index).padStart(6, '0'))
    const answers = await Promise.all(codes.map((code) => pass(challenge, code)))
    const compared = answers.filter(({ body }) => JSON.stringify(body).includes('invalid_code'))
    expect(compared).toHaveLength(5)
  })

  it('ATK-050 new challenges, the right password and many addresses give no new guesses', async () => {
    const { client, runtime } = await limitedAuth()
    const owner = client()
    await owner.signUp(ada)
    const own = await enrol(owner, ada.password, runtime.clock)
    let asked = 0
    const guess = async (code: string) => {
      asked += 1
      const attacker = client({ ip: ipOf(asked) })
      return pass(await firstStep(attacker, ada), code, attacker)
    }
    for (let tried = 0; tried < 20; tried += 1) expect((await guess(own.wrongCode())).status).toBe(401)
    await runtime.clock.advance('30s')
    expect((await guess(own.code())).body).toMatchObject({ status: 429, code: 'rate_limited' })
    expect((await guess(own.backupCodes[0] ?? '')).status).toBe(429)

    await runtime.clock.set(runtime.clock.now() + 3_600_000)
    expect((await guess(own.code())).status).toBe(200)
  })

  it('ATK-050 after a hundred wrong codes only the application opens the account again', async () => {
    const { client, runtime, auth } = await limitedAuth({ limits: { guess: { account: '100/1h' } } })
    const owner = client()
    const { body } = await owner.signUp(ada)
    const own = await enrol(owner, ada.password, runtime.clock)
    for (let tried = 0; tried < 100; tried += 1) {
      const attacker = client({ ip: ipOf(tried) })
      await pass(await firstStep(attacker, ada), own.wrongCode(), attacker)
    }
    await runtime.clock.set(runtime.clock.now() + 24 * 3_600_000)
    const late = client({ ip: ipOf(500) })
    expect((await pass(await firstStep(late, ada), own.code(), late)).status).toBe(429)
    await auth.users.update(body.user.id, { twoFactor: false })
    expect((await client({ ip: ipOf(501) }).post('/auth/login', ada)).body).toMatchObject({
      user: { twoFactor: false },
    })
  })
})

describe('between the two steps', () => {
  it('ATK-051 nothing opens but the second step, whatever the browser or the app sends', async () => {
    const halfway = server.client()
    const challenge = await firstStep(halfway, account)
    expect(halfway.cookies.all().map(({ name }) => name)).toEqual(['two-factor'])
    const app = server.client({ as: 'token' })
    const handed = await app.post<Record<string, unknown>>('/auth/login', account)
    expect(Object.keys(handed.body).sort()).toEqual(['challenge', 'methods', 'status'])
    expect(handed.headers.getSetCookie()).toEqual([])

    const calls = server.calls.length
    const change = { currentPassword: ada.password, newPassword: 'analytical engine 1843' }
    const proof = { password: ada.password, code: factor.backupCodes[0] }
    for (const answer of [
      await halfway.get('/auth/me'),
      await halfway.get('/api/secret'),
      await halfway.post('/api/secret', {}),
      await halfway.refresh(),
      await halfway.post('/auth/password/change', change),
      await halfway.delete('/auth/two-factor', proof),
      await halfway.post('/auth/two-factor/totp', proof),
      await halfway.post('/auth/two-factor/backup-codes', proof),
      await halfway.get('/auth/sessions'),
    ]) {
      expectRefusal(answer, 401, 403)
    }
    const bearer = { authorization: `Bearer ${challenge}` }
    expectRefusal(await server.ask('GET', '/api/secret', { headers: bearer }), 401)
    for (const name of ['access-token', 'refresh-token', 'registration']) {
      const headers = { cookie: `${name}=${challenge}`, 'sec-fetch-site': 'same-origin' }
      expectRefusal(await server.ask('GET', '/api/secret', { headers }), 401)
      expectRefusal(await server.ask('POST', '/auth/refresh', { headers }), 401)
    }
    const refresh = { refreshToken: challenge }
    expectRefusal(await server.client({ as: 'token' }).post('/auth/refresh', refresh), 401)
    expect(server.calls).toHaveLength(calls)
    expect((await pass(challenge, factor.code())).status).toBe(200) // the app's challenge lives beside it
  })

  it('ATK-041 ATK-051 a challenge is no mailed token, and no mailed token is a challenge', async () => {
    const challenge = await challenged()
    const password = 'analytical engine 1843'
    expectRefusal(await browser.post('/auth/password/reset', { token: challenge, password }), 400)
    expectRefusal(await browser.post('/auth/verify-email', { token: challenge, password }), 400)
    await browser.post('/auth/password/forgot', { email: account.email })
    const mailed = server.mailbox.token(await server.mailbox.waitFor(account.email, 'Choose a new password'))
    expectRefusal(await pass(mailed, factor.code()), 400)
    const { access, refresh } = heldTokens(browser)
    for (const other of [access.slice(0, 128), refresh.slice(0, 128)])
      expectRefusal(await pass(other, factor.code()), 400)
    expect((await pass(challenge, factor.code())).status).toBe(200)
  })

  it('ATK-051 the second step may take five minutes, and is asked of the mode that took the first', async () => {
    const late = await challenged()
    await server.runtime.clock.advance('5m')
    expect((await pass(late, factor.code())).body).toMatchObject({ status: 400, code: 'invalid_token' })
    const punctual = await challenged()
    await server.runtime.clock.advance('299s')
    const app = server.client({ as: 'token' })
    expect((await pass(punctual, factor.code(), app)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await pass(punctual, factor.code())).status).toBe(200)

    const { challenge } = (await app.post<{ challenge: string }>('/auth/login', account)).body
    const code = await factor.nextCode()
    expect((await pass(challenge, code)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await pass(challenge, code, app)).body).toMatchObject({ accessToken: expect.any(String) })
  })

  it('ATK-051 what changes about the account in between makes the first step void', async () => {
    const { users } = server.auth
    const { id } = (await users.findByEmail(account.email)) ?? { id: '' }
    for (const change of [
      () => users.update(id, { roles: ['READER'] }),
      () => users.setPassword(id, ada.password),
      () => users.disable(id).then(() => users.enable(id)),
    ]) {
      const challenge = await challenged()
      await change()
      expect((await pass(challenge, await factor.nextCode())).body).toMatchObject({ code: 'invalid_token' })
    }
    const challenge = await challenged()
    await users.disable(id)
    expectRefusal(await pass(challenge, await factor.nextCode()), 400)
    expect((await server.client().post('/auth/login', account)).body).toMatchObject({ code: 'account_disabled' })
  })

  it('ATK-052 the challenge alone says who signs in, and every other field is ignored', async () => {
    const victim = account
    const victimFactor = factor
    const mallory = { ...ada, email: `mallory${serial}@example.test` }
    const client = server.client()
    await client.signUp(mallory)
    const own = await enrol(client, ada.password, server.runtime.clock)
    const { id } = (await server.auth.users.findByEmail(victim.email)) ?? { id: '' }
    const code = await own.nextCode()

    const ofVictim = await challenged()
    expect((await pass(ofVictim, code)).body).toMatchObject({ code: 'invalid_code' })
    expect((await pass(ofVictim, own.backupCodes[0] ?? '')).body).toMatchObject({ code: 'invalid_code' })
    const challenge = await firstStep(server.client(), mallory)
    const claims = { userId: id, user: { id }, email: victim.email, sub: id, amr: ['mfa'], mode: 'token', method: 'x' }
    const answer = await server.client().post(path, { challenge, code, ...claims })
    expect(answer.body).toMatchObject({ user: { email: mallory.email } })
    expect((await pass(ofVictim, victimFactor.code())).body).toMatchObject({ user: { email: victim.email } })
  })

  it('ATK-080 the cookie that holds it over https is out of reach of scripts and siblings, and cleared as it was set', async () => {
    const https = 'https://app.example.test'
    const secure = await attackServer({ settings: { baseUrl: https } })
    try {
      const holder = secure.clientAt(https)
      await holder.signUp(ada)
      const own = await enrol(holder, ada.password, secure.runtime.clock)
      const [set = ''] = (await holder.post('/auth/login', ada)).headers.getSetCookie()
      expect(set).toMatch(/^__Host-two-factor=[\w-]{43}; /)
      expect(set.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=300', 'Path=/', 'SameSite=Lax', 'Secure'])
      const passed = await holder.post(path, { code: await own.nextCode() })
      const cleared = passed.headers.getSetCookie().find((line) => line.startsWith('__Host-two-factor=')) ?? ''
      expect(cleared.split('; ')).toEqual(
        expect.arrayContaining(['__Host-two-factor=', 'HttpOnly', 'Max-Age=0', 'Path=/', 'SameSite=Lax', 'Secure']),
      )
    } finally {
      await secure.close()
    }
  })

  it('ATK-052 of two challenges the one in the body counts, not the one in the cookie', async () => {
    const holder = server.client()
    await firstStep(holder, account)
    expectRefusal(await pass('unknown', factor.code(), holder), 400)
    expect((await holder.post(path, { code: factor.code() })).status).toBe(200)
    expect(holder.cookies.get('two-factor')).toBeNull()
  })

  it.each([[undefined], [null], [''], [123456], [['123456']], [{ $ne: null }], [true], ['x'.repeat(33)]])(
    'a code like %j is malformed and counts for nothing',
    async (code) => {
      const challenge = await challenged()
      for (let tried = 0; tried < 6; tried += 1) {
        expectRefusal(await server.ask('POST', path, { body: { challenge, code } }), 400)
      }
      expect((await pass(challenge, factor.code())).status).toBe(200)
    },
  )
})

describe('setting up and turning off', () => {
  it('ATK-053 nothing is on until a code is confirmed, by the very session that began', async () => {
    const fresh = { ...ada, email: `fresh${serial}@example.test` }
    const client = server.client()
    await client.signUp(fresh)
    const begun = await client.post<{ secret: string }>('/auth/two-factor/totp', { password: ada.password })
    expect(begun.body).toMatchObject({ secret: expect.stringMatching(/^[A-Z2-7]{32}$/) })
    expect((await client.get('/auth/me')).body).toMatchObject({ user: { twoFactor: false } })

    const other = server.client()
    await other.signIn(fresh)
    const code = totpCode(begun.body.secret, server.runtime.clock.now())
    expectRefusal(await other.post('/auth/two-factor/totp/confirm', { code }), 400)
    await client.signOut()
    await client.signIn(fresh)
    expectRefusal(await client.post('/auth/two-factor/totp/confirm', { code }), 400)
    expect((await client.get('/auth/me')).body).toMatchObject({ user: { twoFactor: false } })
  })

  it('ATK-053 a stolen session begins nothing without the password, nor replaces a factor without its code', async () => {
    const begin = (body: object) => browser.post('/auth/two-factor/totp', body)
    expect((await begin({})).body).toMatchObject({ code: 'invalid_credentials' })
    expect((await begin({ password: 'wrong wrong wrong' })).body).toMatchObject({ code: 'invalid_credentials' })
    expect((await begin({ password: ada.password })).body).toMatchObject({ status: 401, code: 'invalid_code' })
    const guess = { password: ada.password, code: factor.wrongCode() }
    expect((await begin(guess)).body).toMatchObject({ status: 401, code: 'invalid_code' })
    const code = factor.code()
    const begun = await browser.post<{ secret: string }>('/auth/two-factor/totp', { password: ada.password, code })
    expect(begun.status).toBe(200)
    expect((await begin({ password: ada.password, code })).body).toMatchObject({ code: 'invalid_code' })
    // The old factor stays in force until the new one is confirmed.
    expect((await pass(await challenged(), await factor.nextCode())).status).toBe(200)

    const confirm = { code: totpCode(begun.body.secret, server.runtime.clock.now()) }
    expect((await browser.post('/auth/two-factor/totp/confirm', confirm)).status).toBe(200)
    expect((await pass(await challenged(), await factor.nextCode())).body).toMatchObject({ code: 'invalid_code' })
    const now = totpCode(begun.body.secret, server.runtime.clock.now())
    expect((await pass(await challenged(), now)).status).toBe(200)
  })

  it('ATK-053 the secret is shown once and stands in no later answer', async () => {
    for (const where of ['/auth/me', '/auth/sessions', '/auth/two-factor']) {
      expect((await browser.get(where)).text).not.toContain(factor.secret)
    }
    expect((await browser.get('/auth/two-factor/totp')).status).toBe(405)
    const user = await server.auth.users.findByEmail(account.email)
    expect(JSON.stringify(user)).not.toContain(factor.secret)
    expect(user).toMatchObject({ twoFactor: true })
  })

  it('ATK-053 a confirmation takes five guesses, and then the right code too late', async () => {
    const fresh = { ...ada, email: `fresh${serial}@example.test` }
    const client = server.client()
    await client.signUp(fresh)
    const confirm = (code: string) => client.post('/auth/two-factor/totp/confirm', { code })
    expectRefusal(await confirm('123456'), 400)
    const { body } = await client.post<{ secret: string }>('/auth/two-factor/totp', { password: ada.password })
    const right = () => totpCode(body.secret, server.runtime.clock.now())
    for (let tried = 0; tried < 5; tried += 1) {
      const wrong = String((Number(right()) + 1 + tried) % 1_000_000).padStart(6, '0')
      expect((await confirm(wrong)).body).toMatchObject({ code: 'invalid_code' })
    }
    expect((await confirm(right())).body).toMatchObject({ status: 400, code: 'invalid_token' })
    expect((await client.get('/auth/me')).body).toMatchObject({ user: { twoFactor: false } })
  })

  it('ATK-053 an enrolment ends after ten minutes', async () => {
    const fresh = { ...ada, email: `fresh${serial}@example.test` }
    const client = server.client()
    await client.signUp(fresh)
    const { body } = await client.post<{ secret: string }>('/auth/two-factor/totp', { password: ada.password })
    await server.runtime.clock.advance('10m')
    const code = totpCode(body.secret, server.runtime.clock.now())
    expectRefusal(await client.post('/auth/two-factor/totp/confirm', { code }), 400)
  })

  it('ATK-054 turning off takes the session, the password and a code', async () => {
    const off = (body: object, client = browser) => client.delete('/auth/two-factor', body)
    const code = factor.code()
    expectRefusal(await off({ password: ada.password, code }, server.client()), 401)
    expectRefusal(await off({ password: ada.password }), 400)
    expect((await off({ code })).body).toMatchObject({ code: 'invalid_credentials' })
    expect((await off({ password: 'wrong wrong wrong', code })).body).toMatchObject({ code: 'invalid_credentials' })
    const guess = { password: ada.password, code: factor.wrongCode() }
    expect((await off(guess)).body).toMatchObject({ status: 401, code: 'invalid_code' })
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { twoFactor: true } })
    expect((await off({ password: ada.password, code })).status).toBe(204)
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { twoFactor: false } })
    expect((await off({ password: ada.password, code: await factor.nextCode() })).status).toBe(404)
  })

  it('ATK-054 a page of another site turns nothing off', async () => {
    const body = { password: ada.password, code: factor.code() }
    for (const headers of [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { origin: null, 'sec-fetch-site': 'cross-site' },
    ]) {
      const answer = await browser.delete('/auth/two-factor', body, { headers })
      expect(answer.body).toMatchObject({ status: 403, code: 'csrf_rejected' })
    }
    const form = new URLSearchParams({ ...body, _method: 'DELETE' })
    const { cookie } = { cookie: browser.cookies.header(new URL('/auth', server.url)) ?? '' }
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://evil.test', cookie }
    expectRefusal(await server.ask('POST', '/auth/two-factor', { body: String(form), headers }), 403)
    expect((await browser.get('/auth/me')).body).toMatchObject({ user: { twoFactor: true } })
  })

  it('ATK-054 on and off end every session at once, and tell the owner', async () => {
    const app = server.client({ as: 'token' })
    const handed = await app.post<{ challenge: string }>('/auth/login', account)
    await pass(handed.body.challenge, factor.code(), app)
    const stolen = browser.copy()
    const body = { password: ada.password, code: await factor.nextCode() }
    expect((await browser.delete('/auth/two-factor', body)).status).toBe(204)
    for (const client of [stolen, app]) {
      expect((await client.get('/api/secret')).status).toBe(401)
      expect((await client.refresh()).body).toMatchObject({ code: 'token_revoked' })
    }
    expect((await browser.get('/api/secret')).status).toBe(200)
    const off = await server.mailbox.waitFor(account.email, 'turned off')
    const on = await server.mailbox.waitFor(account.email, 'turned on')
    for (const mail of [on, off]) {
      expect(mail.text).not.toMatch(/https?:|\d{6}/)
      for (const secret of [factor.secret, ...factor.backupCodes]) expect(mail.text + mail.html).not.toContain(secret)
    }
  })
})

describe('backup codes', () => {
  it('ATK-055 are ten, of fifty bits each, and work once, however they are written', async () => {
    expect(new Set(factor.backupCodes).size).toBe(10)
    for (const code of factor.backupCodes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/)
    const [first = '', second = '', third = '', fourth = ''] = factor.backupCodes
    const written = [
      first.toUpperCase(),
      second.replace('-', ''),
      ` ${[...third.replace('-', '')].join(' ')} `,
      fourth.replace('-', '–').replaceAll('0', 'O').replaceAll('1', 'l'),
    ]
    for (const code of written) {
      expect((await pass(await challenged(), code)).status, code).toBe(200)
      expect((await pass(await challenged(), code)).body).toMatchObject({ code: 'invalid_code' })
    }
    for (const code of [first, second, third, fourth]) {
      expect((await pass(await challenged(), code)).body).toMatchObject({ code: 'invalid_code' })
    }
    expect((await pass(await challenged(), factor.backupCodes[4] ?? '')).status).toBe(200)
  })

  it('ATK-055 of many requests with one of them at once, one opens a session', async () => {
    const before = sessions()
    const code = factor.backupCodes[0] ?? ''
    const challenge = await challenged()
    const answers = await Promise.all(crowd.map(() => pass(challenge, code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(sessions()).toBe(before + 1)
  })

  it('ATK-055 are void once there are new ones, which take password and code, and are told of by mail', async () => {
    const renew = (body: object) => browser.post<{ backupCodes: string[] }>('/auth/two-factor/backup-codes', body)
    expect((await renew({ code: factor.code() })).body).toMatchObject({ code: 'invalid_credentials' })
    const wrong = { password: ada.password, code: factor.wrongCode() }
    expect((await renew(wrong)).body).toMatchObject({ code: 'invalid_code' })
    const { status, body } = await renew({ password: ada.password, code: factor.backupCodes[9] })
    expect([status, body.backupCodes.length]).toEqual([200, 10])
    for (const old of factor.backupCodes) {
      expect((await pass(await challenged(), old)).body).toMatchObject({ code: 'invalid_code' })
    }
    expect((await pass(await challenged(), body.backupCodes[0] ?? '')).status).toBe(200)
    expect((await browser.get('/api/secret')).status).toBe(200)
    const mail = await server.mailbox.waitFor(account.email, 'new backup codes')
    for (const code of body.backupCodes) expect(mail.text + mail.html).not.toContain(code)
  })

  it('ATK-055 are digests under a key of ours, different for every user', async () => {
    const rows = server.sql<{ code_hash: string }>('select code_hash from latchkey_backup_codes')
    for (const { code_hash } of rows) expect(code_hash).toMatch(/^[\w-]{8}\.[\w-]{43}$/)
    expect(new Set(rows.map(({ code_hash }) => code_hash)).size).toBe(rows.length)
    // A row that somebody copies to another account opens nothing there.
    const mallory = { ...ada, email: `mallory${serial}@example.test` }
    const client = server.client()
    await client.signUp(mallory)
    const own = await enrol(client, ada.password, server.runtime.clock)
    const idOf = async (email: string) => (await server.auth.users.findByEmail(email))?.id ?? ''
    const [ownId, victimId] = [await idOf(mallory.email), await idOf(account.email)]
    server.sql('delete from latchkey_backup_codes where user_id = ?', victimId)
    server.sql('update latchkey_backup_codes set user_id = ? where user_id = ?', victimId, ownId)
    expect((await pass(await challenged(), own.backupCodes[0] ?? '')).body).toMatchObject({ code: 'invalid_code' })
    server.sql(
      'update latchkey_users set totp_secret = (select totp_secret from latchkey_users where id = ?) where id = ?',
      ownId,
      victimId,
    )
    expect((await pass(await challenged(), await own.nextCode())).body).toMatchObject({ code: 'invalid_code' })
  })
})

describe('clocks', () => {
  it('ATK-056 the server’s own clock decides, and one step before and after it count', async () => {
    const { clock } = server.runtime
    const at = (steps: number) => totpCode(factor.secret, clock.now() + steps * 30_000)
    const date = new Date(clock.now() + 3_600_000)
    const code = totpCode(factor.secret, date.getTime())
    const headers = { date: date.toUTCString(), 'x-timestamp': String(date.getTime()) }
    const body = { challenge: await challenged(), code, timestamp: date.getTime(), epoch: date.getTime() / 1000 }
    expect((await server.ask('POST', path, { body, headers })).body).toMatchObject({ code: 'invalid_code' })

    await clock.advance('2m')
    for (const [steps, status] of [
      [-2, 401],
      [2, 401],
      [-1, 200],
      [0, 200],
      [1, 200],
    ] as const) {
      expect((await pass(await challenged(), at(steps))).status, `${steps} steps`).toBe(status)
    }
  })
})

describe('every way in', () => {
  it('ATK-030 a mailed code, or the mailed link, is one factor, and the second one is still asked', async () => {
    for (const by of ['code', 'token'] as const) {
      const own = server.client()
      expect((await own.post('/auth/otp', { email: account.email })).status).toBe(202)
      const mail = await server.mailbox.waitFor(account.email, otpSubject)
      const proof =
        by === 'code'
          ? { email: account.email, code: server.mailbox.code(mail) }
          : { token: server.mailbox.token(mail) }
      const asked = await own.post<{ challenge: string }>('/auth/otp/verify', proof)
      expect(asked.body).toMatchObject({ status: 'two_factor_required', challenge: expect.any(String) })
      expect((await own.get('/api/secret')).status).toBe(401)
      // Mailbox and mailed code again are the same factor twice.
      const mailed = server.mailbox.code(mail)
      expect((await pass(asked.body.challenge, mailed, own)).body).toMatchObject({ code: 'invalid_code' })
      expect((await pass(asked.body.challenge, await factor.nextCode(), own)).status).toBe(200)
      expect(amrOf(own)).toEqual(['otp', 'mfa'])
      await server.runtime.clock.advance('30s')
    }
  })

  it('ATK-057 a factor that a stranger set up before the mailbox was proved keeps its owner out of nothing', async () => {
    const open = await attackServer({ settings: { registration: { emailVerification: 'optional' } } })
    try {
      for (const by of ['code', 'reset'] as const) {
        const email = `${by}@example.test`
        const stranger = open.client()
        await stranger.post('/auth/register', { ...ada, email })
        const strangersFactor = await enrol(stranger, ada.password, open.runtime.clock)
        const owner = open.client()
        if (by === 'code') {
          await owner.post('/auth/otp', { email })
          const code = open.mailbox.code(await open.mailbox.waitFor(email, otpSubject))
          expect((await owner.post('/auth/otp/verify', { email, code })).body).toMatchObject({
            user: { twoFactor: false },
          })
        } else {
          await owner.post('/auth/password/forgot', { email })
          const token = open.mailbox.token(await open.mailbox.waitFor(email, 'Choose a new password'))
          const password = 'analytical engine 1843'
          expect((await owner.post('/auth/password/reset', { token, password })).status).toBe(200)
          expect((await owner.signIn({ email, password })).body.user).toMatchObject({ twoFactor: false })
        }
        expect((await stranger.get('/api/secret')).status).toBe(401)
        expect((await stranger.post(path, { challenge: 'x', code: strangersFactor.backupCodes[0] })).status).toBe(400)
      }
    } finally {
      await open.close()
    }
  })

  it('ATK-039 a reset opens no session, leaves the factor on, and the next sign-in asks for it', async () => {
    await browser.post('/auth/password/forgot', { email: account.email })
    const token = server.mailbox.token(await server.mailbox.waitFor(account.email, 'Choose a new password'))
    const password = 'analytical engine 1843'
    const answer = await server.client().post('/auth/password/reset', { token, password })
    expect(answer.body).toEqual({ status: 'password_changed' })
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(sessions()).toBe(0)
    const challenge = await firstStep(server.client(), { ...account, password })
    expect((await pass(challenge, factor.code())).body).toMatchObject({ user: { twoFactor: true } })
  })

  it('ATK-057 confirming an address, refreshing and changing the password get nobody past it', async () => {
    const open = await attackServer({ settings: { registration: { emailVerification: 'optional' } } })
    try {
      const client = open.client()
      expect((await client.post('/auth/register', ada)).status).toBe(201)
      const own = await enrol(client, ada.password, open.runtime.clock)
      const token = open.mailbox.token(await open.mailbox.waitFor(ada.email, 'Confirm'))
      const elsewhere = open.client()
      const confirmed = await elsewhere.post<{ challenge: string }>('/auth/verify-email', {
        token,
        password: ada.password,
      })
      expect(confirmed.body).toMatchObject({ status: 'two_factor_required', challenge: expect.any(String) })
      expect((await elsewhere.get('/api/secret')).status).toBe(401)
      const answer = await pass(confirmed.body.challenge, await own.nextCode(), elsewhere)
      expect(answer.body).toMatchObject({ user: { emailVerified: true } })
      expect(amrOf(elsewhere)).toEqual(['pwd', 'otp', 'mfa'])
    } finally {
      await open.close()
    }
    const { clock } = server.runtime
    await clock.advance('1m')
    await browser.refresh()
    expect(amrOf(browser)).toEqual(['pwd', 'otp', 'mfa'])
    const change = { currentPassword: ada.password, newPassword: 'analytical engine 1843' }
    expect((await browser.post('/auth/password/change', change)).status).toBe(200)
    expect(amrOf(browser)).toEqual(['pwd', 'otp', 'mfa'])
    await firstStep(server.client(), { ...account, password: change.newPassword })
  })

  function amrOf(client: TestClient): unknown {
    return claimsOf(heldTokens(client).access).amr
  }
})
