import express5 from 'express'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { AuthError, init } from '../../src/index.js'
import type { SignedIn } from '../../src/testing/answer.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../src/testing.js'
import { attackServer, express4 } from '../support/attack-server.js'
import { ada, testAuth } from '../support/auth.js'
import { hostCodehooks, loadCodehooks } from '../support/codehooks-host.js'

test('a hook that does not come to an end is hook_failed after 5 s, and nobody is signed in', async () => {
  let reached = () => {}
  const isReached = new Promise<void>((resolve) => {
    reached = resolve
  })
  let hangs = false
  const beforeLogin = () => {
    if (!hangs) return
    reached()
    return new Promise<void>(() => {})
  }
  const { auth, client, runtime } = await testAuth({ hooks: { beforeLogin } })
  const { body } = await client().signUp(ada)
  hangs = true

  const answer = client().post('/auth/login', ada)
  await isReached
  await runtime.clock.advance('5s')
  expect((await answer).body).toMatchObject({ status: 503, code: 'hook_failed' })
  expect((await auth.sessions.list(body.user.id)).items).toHaveLength(1)
})

describe('a hook that refuses afterwards', () => {
  it('ends the session that was begun, and the browser is not remembered', async () => {
    let open = true
    const { auth, client } = await testAuth({
      hooks: {
        afterLogin() {
          if (!open) throw new AuthError('forbidden')
        },
      },
    })
    const { body } = await client().signUp(ada)
    open = false
    const refused = await client().post('/auth/login', ada)
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' }, cookies: [] })
    expect((await auth.sessions.list(body.user.id)).items.map(({ id }) => id)).toEqual([body.session.id])
    const { items } = await auth.audit.list({ userId: body.user.id, limit: 2 })
    expect(items).toMatchObject([
      { event: 'login', outcome: 'failure', detail: { method: 'password', reason: 'forbidden' } },
      { event: 'session_revoked', detail: { reason: 'hook' } },
    ])
  })

  it.each(['required', 'optional'] as const)(
    'takes the new account away, verification %s',
    async (emailVerification) => {
      const { auth, client, mailbox } = await testAuth({
        registration: { emailVerification },
        hooks: {
          afterRegister() {
            throw new TypeError('broken')
          },
        },
      })
      const browser = client()
      let answer = await browser.post('/auth/register', ada)
      if (emailVerification === 'required') {
        const token = mailbox.token(await mailbox.waitFor(ada.email))
        answer = await browser.post('/auth/verify-email', { token })
      }
      expect(answer).toMatchObject({ status: 503, body: { code: 'hook_failed' } })
      expect(await auth.users.findByEmail(ada.email)).toBeNull()
      // Where an account comes of a registration, that waits again.
      const code = emailVerification === 'required' ? 'email_not_verified' : 'invalid_credentials'
      expect((await client().post('/auth/login', ada)).body).toMatchObject({ code })
      const [newest] = (await auth.audit.list({ event: 'account_deleted' })).items
      expect(newest).toMatchObject({ detail: { reason: 'hook' } })
    },
  )
})

interface Told {
  name: string
  request: Record<string, unknown>
  response: Record<string, unknown>
  given: Record<string, unknown>
}

/** `onSignupUser` and `onLoginUser` that note what they were called with, and do what they are told. */
function noting(act: (told: Told) => unknown = () => undefined) {
  const told: Told[] = []
  const hook = (name: string) => (request: unknown, response: unknown, given: object) => {
    const one = { name, request: Object(request), response: Object(response), given: { ...given } }
    told.push(one)
    return act(one)
  }
  return { told, hooks: { onSignupUser: hook('onSignupUser'), onLoginUser: hook('onLoginUser') } }
}

describe('hooks as codehooks-auth has them', () => {
  it.each([
    ['Express 5', express5],
    ['Express 4', express4],
  ])(
    'get the request and response of %s, before the answer, and the user with nothing secret',
    async (_name, express) => {
      const { told, hooks } = noting(({ name, request, response }) => {
        expect(response.headersSent).toBe(false)
        // Methods of Express, not of node.
        Reflect.apply(Object(response.set), response, [`x-${name}`, 'called'])
        expect(Reflect.apply(Object(request.get), request, ['content-type'])).toBe('application/json')
        expect(request.query).toEqual({ page: '1' })
        return { access_token: 'ignored' }
      })
      const server = await attackServer({ settings: { hooks }, express })
      onTestFinished(() => server.close())
      const browser = server.client()
      await browser.post('/auth/register', ada)
      const token = server.mailbox.token(await server.mailbox.waitFor(ada.email))
      const { headers, body } = await browser.post<SignedIn>('/auth/verify-email?page=1', { token })
      expect(told.map(({ name }) => name)).toEqual(['onSignupUser', 'onLoginUser'])
      expect([headers.get('x-onsignupuser'), headers.get('x-onloginuser')]).toEqual(['called', 'called'])
      expect(told[1]).toMatchObject({ request: { method: 'POST', originalUrl: '/auth/verify-email?page=1' } })
      expect(told.map(({ given }) => Object.keys(given))).toEqual([['user'], ['user']])
      expect(told[1]?.given.user).toEqual(body.user)

      await server.client().post('/auth/login?page=1', ada)
      expect(told.at(-1)).toMatchObject({ name: 'onLoginUser', request: { originalUrl: '/auth/login?page=1' } })
      expect(told).toHaveLength(3)
    },
  )

  it('get those of codehooks-js', async () => {
    const { told, hooks } = noting()
    const { app } = await loadCodehooks()
    const mailbox = createTestMailbox()
    const auth = init(app, testSettings({ mailbox, hooks }), createTestRuntime())
    const host = await hostCodehooks(app.init(), { space: null })
    onTestFinished(async () => {
      await host.close()
      await auth.close()
    })
    await auth.users.create({ ...ada, emailVerified: true })
    const client = createTestClient(`http://localhost:${host.port}`, { as: 'token' })
    expect((await client.post('/auth/login', ada)).status).toBe(200)
    expect(told).toMatchObject([{ name: 'onLoginUser', request: { apiPath: '/auth/login' } }])
    expect(told[0]?.response.setHeader).toBeInstanceOf(Function)
    expect(host.faults).toEqual([])
  })

  it('get plain objects where the framework has no such pair', async () => {
    const { told, hooks } = noting()
    const { client } = await testAuth({ hooks })
    await client({ headers: { 'user-agent': 'Browser/1.0' } }).signUp(ada)
    expect(told[1]).toMatchObject({
      request: { method: 'POST', path: '/auth/verify-email', query: '', headers: { 'user-agent': 'Browser/1.0' } },
      response: {},
    })
  })

  it.each([
    ['an error', () => Promise.reject(new Error('PLANTED')), 403, 'forbidden'],
    ['no error at all', () => Promise.reject('PLANTED'), 403, 'forbidden'],
    ['an AuthError', () => Promise.reject(new AuthError('account_disabled')), 403, 'account_disabled'],
    [
      'a throw',
      () => {
        throw new Error('PLANTED')
      },
      403,
      'forbidden',
    ],
  ])('deny by %s: no session, and no account', async (_how, act, status, code) => {
    let open = false
    const { hooks } = noting(({ name }) => (open || name === 'onSignupUser' ? undefined : act()))
    const { auth, client } = await testAuth({ hooks })
    const { id } = await auth.users.create({ ...ada, emailVerified: true })
    const refused = await client().post('/auth/login', ada)
    expect(refused).toMatchObject({ status, body: { code }, cookies: [] })
    expect(refused.text).not.toContain('PLANTED')
    expect((await auth.sessions.list(id)).items).toEqual([])
    open = true
    await client().signIn(ada)

    const closed = await testAuth({ hooks: { onSignupUser: act } })
    const registered = closed.client()
    await registered.post('/auth/register', ada)
    const token = closed.mailbox.token(await closed.mailbox.waitFor(ada.email))
    expect(await registered.post('/auth/verify-email', { token })).toMatchObject({ status, body: { code } })
    expect(await closed.auth.users.findByEmail(ada.email)).toBeNull()
  })

  it('come after ours, and not at all where ours refuses', async () => {
    const order: string[] = []
    const { told, hooks } = noting(({ name }) => order.push(name))
    let open = true
    const { client } = await testAuth({
      hooks: {
        ...hooks,
        afterLogin() {
          order.push('afterLogin')
          if (!open) throw new AuthError('forbidden')
        },
      },
    })
    await client().signUp(ada)
    expect(order).toEqual(['onSignupUser', 'afterLogin', 'onLoginUser'])
    open = false
    expect((await client().post('/auth/login', ada)).status).toBe(403)
    expect(told).toHaveLength(2)
  })

  it('that answer by themselves, which they must not, break nothing', async () => {
    const { hooks } = noting(({ name, response }) => {
      if (name === 'onLoginUser') Reflect.apply(Object(response.end), response, ['theirs'])
    })
    const server = await attackServer({ settings: { hooks } })
    onTestFinished(() => server.close())
    await server.auth.users.create({ ...ada, emailVerified: true })
    expect(await server.client().post('/auth/login', ada)).toMatchObject({ status: 200, text: 'theirs', cookies: [] })
    expect((await server.ask('GET', '/auth/me')).status).toBe(401)
  })
})
