import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import express5 from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkRequirement } from '../../src/guard/require.js'
import { init, type Principal, SettingsError } from '../../src/index.js'
import { parseRequirement, type RequirementInput } from '../../src/settings/requirement.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../src/testing.js'
import { ada, testAuth } from '../support/auth.js'
import { hostCodehooks, loadCodehooks } from '../support/codehooks-host.js'

/** The same calls as Express 5, and no types of its own. */
const express4: typeof express5 = createRequire(import.meta.url)('express4')

const now = 1_800_000_000
const user: Principal = {
  kind: 'session',
  userId: 'u',
  sessionId: 's',
  email: 'ada@example.test',
  emailVerified: true,
  roles: ['EDITOR'],
  amr: ['pwd'],
  authTime: now - 600,
  actor: null,
}
const acting: Principal = { ...user, authTime: 0, actor: { userId: 'a', sessionId: 'b', endsAt: now + 60 } }
const reader: Principal = { kind: 'apiToken', tokenId: 't', name: 'reports', access: 'READ' }
const hook: Principal = { kind: 'hook', subject: 'x', claims: { roles: ['EDITOR'] } }

describe('what a route requires', () => {
  test('names each setting that is none, with what may have been meant', () => {
    const slips: object = { role: ['ADMIN'], kind: ['session'] }
    const faults = [
      { setting: 'require.role', message: 'is not a setting; did you mean roles?' },
      { setting: 'require.kind', message: 'is not a setting; did you mean kinds?' },
    ]
    expect(() => parseRequirement(slips)).toThrow(expect.objectContaining({ faults }))
  })

  test.each<[string, RequirementInput, Principal, string | null]>([
    ['nothing', {}, reader, null],
    ['one of several roles', { roles: ['OWNER', 'EDITOR'] }, user, null],
    ['a role the user has not', { roles: ['OWNER'] }, user, 'forbidden'],
    ['a role, of a credential that has none', { roles: ['EDITOR'] }, hook, 'forbidden'],
    ['a kind', { kinds: ['apiToken', 'session'] }, reader, null],
    ['another kind', { kinds: ['session'] }, reader, 'forbidden'],
    ['reading, of an API token that reads', { access: 'READ' }, reader, null],
    ['writing, of an API token that reads', { access: 'READWRITE' }, reader, 'insufficient_access'],
    ['writing, of a user', { access: 'READWRITE' }, user, null],
    ['a sign-in to the second as old as allowed', { recent: '10m' }, user, null],
    ['a younger sign-in', { recent: '9m' }, user, 'recent_login_required'],
    ['a recent sign-in, of a credential that signs in nowhere', { recent: '10m' }, hook, 'forbidden'],
    ['no impersonation, of a user', { actor: false }, user, null],
    ['no impersonation, of an API token', { actor: false }, reader, null],
    ['no impersonation, of an administrator who acts', { actor: false }, acting, 'impersonation_forbidden'],
    ['a recent sign-in, of an administrator who acts', { recent: '90d' }, acting, 'recent_login_required'],
    ['all of it at once', { roles: ['EDITOR'], kinds: ['session'], recent: '9m' }, user, 'recent_login_required'],
  ])('%s', (_what, input, principal, code) => {
    const check = () =>
      checkRequirement(principal, parseRequirement(input), { now, reauthenticate: '/auth/reauthenticate' })
    if (code === null) expect(check).not.toThrow()
    else expect(check).toThrow(expect.objectContaining({ code }))
  })

  test('a typo is told at once, for it would leave the route open', () => {
    const wrong: object = { role: ['OWNER'], recent: '10', kinds: [], access: 'WRITE' }
    expect(() => parseRequirement(wrong)).toThrow(SettingsError)
    expect(() => parseRequirement(wrong)).toThrow(
      /require\.kinds[\s\S]*require\.recent|require\.recent[\s\S]*require\.kinds/,
    )
  })
})

test('a sensitive route asks for a recent sign-in, and signing in again opens it', async () => {
  const { auth, runtime, client } = await testAuth()
  const gate = auth.require({ recent: '10m' })
  const tenant = (request: Request) =>
    gate(request, (_request, principal) => Response.json({ deleted: principal?.kind }))
  const browser = client({ next: tenant })
  await browser.signUp(ada)

  expect(await browser.delete('/api/tenant')).toMatchObject({ status: 200, body: { deleted: 'session' } })
  await runtime.clock.advance('11m')
  expect(await browser.delete('/api/tenant')).toMatchObject({ status: 403, body: { code: 'recent_login_required' } })
  // A refresh is no sign-in.
  await browser.post('/auth/refresh')
  expect(await browser.delete('/api/tenant')).toMatchObject({ status: 403, body: { code: 'recent_login_required' } })
  await browser.post('/auth/login', ada)
  expect(await browser.delete('/api/tenant')).toMatchObject({ status: 200 })
})

test('a route can ask for an API token, and for one that writes', async () => {
  const { auth, client } = await testAuth()
  const gate = auth.require({ access: 'READWRITE', kinds: ['apiToken'] })
  const next = (request: Request) => gate(request, (_request, principal) => Response.json(principal))
  const [reader, writer] = [
    await auth.apiTokens.create({ name: 'reader', access: 'READ' }),
    await auth.apiTokens.create({ name: 'writer' }),
  ]
  const browser = client({ next })
  await browser.signUp(ada)
  for (const path of ['/reports', '/api/reports']) {
    const ask = ({ token }: { token: string }) =>
      client({ as: 'server', next, headers: { 'x-apikey': token } }).get(path)
    expect(await ask(writer)).toMatchObject({ status: 200, body: { kind: 'apiToken', tokenId: writer.id } })
    expect(await ask(reader)).toMatchObject({ status: 403, body: { code: 'insufficient_access' } })
    expect(await ask({ token: 'x' })).toMatchObject({ status: 401 })
    expect(await browser.get(path)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  }
})

test('a route outside the guarded prefix can be guarded by itself', async () => {
  const { auth, client } = await testAuth()
  const gate = auth.require({})
  const next = (request: Request) => gate(request, (_request, principal) => Response.json(principal))
  const browser = client({ next })
  expect(await browser.get('/reports')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  await browser.signUp(ada)
  expect(await browser.get('/reports')).toMatchObject({ status: 200, body: { kind: 'session', email: ada.email } })
  expect(await browser.get('/reports', { headers: { origin: 'https://evil.test' } })).toMatchObject({ status: 403 })
})

test('ATK-105 behind auth.require, too, nothing counts that the client says of itself', async () => {
  const { auth, client } = await testAuth({ trustedOrigins: ['https://app.example.test'] })
  const gate = auth.require({})
  const browser = client({
    next: (request, _principal) =>
      gate(request, (seen) => Response.json(Object.fromEntries(seen.headers)), { ip: '203.0.113.9' }),
  })
  await browser.signUp(ada)
  const headers = { 'x-user-roles': 'ADMIN', 'x-real-ip': '127.0.0.1', 'x-forwarded-for': '127.0.0.1' }
  const answer = await browser.get('/reports', { headers: { ...headers, origin: 'https://app.example.test' } })
  expect(answer).toMatchObject({ status: 200, body: { 'x-real-ip': '203.0.113.9', 'x-forwarded-for': '203.0.113.9' } })
  expect(answer.body).not.toHaveProperty('x-user-roles')
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example.test')

  // Below a guarded prefix the guard has said all that before.
  const guarded = await browser.get('/api/reports', { headers })
  expect(guarded).toMatchObject({ status: 200, body: { 'x-real-ip': '127.0.0.1' } })
})

test('while the store is down a required route is closed', async () => {
  const { auth, client } = await testAuth()
  const browser = client({ next: (request) => auth.require({})(request, () => new Response('open')) })
  await browser.signUp(ada)
  await auth.close()
  expect(await browser.get('/reports')).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
})

describe.each([
  ['Express 5', express5],
  ['Express 4', express4],
])('in the form of %s', (_name, express) => {
  test('it is middleware of a route, and the handler finds the principal', async () => {
    const app = express()
    const { base, auth, browser } = await serve(app)
    app.get('/api/team', auth.require({ roles: ['OWNER'] }), (req, res) => void res.json(Reflect.get(req, 'auth')))
    app.get('/reports', auth.require({ kinds: ['session'] }), (req, res) => void res.json(Reflect.get(req, 'auth')))
    expect(base).toMatch(/^http:/)

    expect(await browser.get('/reports')).toMatchObject({ status: 401 })
    await browser.signUp(ada)
    expect(await browser.get('/reports')).toMatchObject({ status: 200, body: { kind: 'session', roles: [] } })
    expect(await browser.get('/api/team')).toMatchObject({ status: 403, body: { code: 'forbidden' } })

    const owner = await auth.users.findByEmail(ada.email)
    await auth.users.update(owner?.id ?? '', { roles: ['OWNER'] })
    await browser.post('/auth/refresh')
    expect(await browser.get('/api/team')).toMatchObject({ status: 200, body: { roles: ['OWNER'] } })
  })

  test.each<[string, unknown]>([
    ['Basic credentials', { user: 'ada', password: 'x' }],
    ['claims of a JWT', { sub: 'u', kind: 'session', roles: ['OWNER'], authTime: 9_999_999_999 }],
    ['frozen claims', Object.freeze({ sub: 'u' })],
    [
      'ATK-218 frozen claims that look like a principal',
      Object.freeze({ kind: 'session', userId: 'u', roles: ['OWNER'] }),
    ],
    ['ATK-218 a frozen API token', Object.freeze({ kind: 'apiToken', tokenId: 't', name: 'n', access: 'READWRITE' })],
    ['a word', 'session'],
  ])('%s that other middleware left in req.auth let nobody in', async (_what, left) => {
    const app = express()
    const { auth, browser } = await serve(app)
    app.use((req, _res, next) => {
      Reflect.set(req, 'auth', left)
      next()
    })
    app.get(['/reports', '/api/reports'], auth.require({ access: 'READWRITE' }), (req, res) => {
      res.json(Reflect.get(req, 'auth'))
    })
    expect(await browser.get('/reports')).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    await browser.signUp(ada)
    const found = { status: 200, body: { kind: 'session', email: ada.email } }
    expect(await browser.get('/reports')).toMatchObject(found)
    expect(await browser.get('/api/reports')).toMatchObject(found)
  })

  async function serve(app: ReturnType<typeof express>) {
    const server = createServer(app).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const base = `http://localhost:${(server.address() as AddressInfo).port}`
    const mailbox = createTestMailbox()
    const runtime = createTestRuntime()
    const auth = init(app, testSettings({ mailbox, baseUrl: base }), runtime)
    onTestFinished(() => auth.close())
    return { base, auth, browser: createTestClient(base, { mailbox, clock: runtime.clock }) }
  }
})

test('in the form of codehooks-js it stands before the handler of a route', async () => {
  const { app } = await loadCodehooks()
  const mailbox = createTestMailbox()
  const auth = init(app, testSettings({ mailbox }), createTestRuntime())
  onTestFinished(() => auth.close())
  app.auth('/open/*', (_req, _res, next) => next())
  app.get('/open/reports', auth.require({ kinds: ['session'] }), (_req, res) => void res.end('reports'))
  const running = await hostCodehooks(app.init())
  onTestFinished(running.close)
  const response = await fetch(`http://127.0.0.1:${running.port}/dev/open/reports`)
  expect(response.status).toBe(401)
  expect(await response.json()).toMatchObject({ code: 'unauthenticated' })
})
