import { describe, expect, test } from 'vitest'
import { routes } from '../../src/routes/index.js'
import type { SignedIn, TestAnswer, TestClient } from '../../src/testing.js'
import { createOAuthPeer } from '../../src/testing.js'
import { administrator } from '../support/administrators.js'
import { ada, sharedSettings, testAuth } from '../support/auth.js'
import {
  type Impersonating,
  impersonable,
  impersonatePath,
  impersonating,
  impersonation,
  reason,
} from '../support/impersonation.js'

const codeOf = ({ body }: TestAnswer): unknown =>
  typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
const stop = (client: TestClient) => client.post('/auth/impersonation/stop')
const outcome = (answer: TestAnswer) => [answer.status, codeOf(answer)]
const forbidden = [403, 'impersonation_forbidden']

async function eventsOf(
  { auth }: Pick<Impersonating, 'auth'>,
  event: 'impersonation_started' | 'impersonation_stopped',
) {
  return (await auth.audit.list({ event })).items
}

describe('ATK-173 impersonating the wrong one', () => {
  test('an administrator, oneself, a disabled account and a role of exceptRoles are refused', async () => {
    const world = await impersonable({
      admin: { emails: [administrator.email, 'second@example.test'], twoFactor: true, impersonation },
    })
    const second = await world.auth.users.create({ email: 'second@example.test', emailVerified: true })
    const auditor = await world.auth.users.create({ email: 'auditor@example.test', roles: ['AUDITOR'] })
    const disabled = await world.auth.users.create({ email: 'disabled@example.test', emailVerified: true })
    await world.auth.users.disable(disabled.id)
    for (const id of [second.id, world.adminId, auditor.id, disabled.id]) {
      expect(outcome(await world.admin.post(impersonatePath(id), { reason }))).toEqual(forbidden)
    }
    expect(outcome(await world.admin.post(impersonatePath('unknown'), { reason }))).toEqual([404, 'not_found'])
    expect(await eventsOf(world, 'impersonation_started')).toEqual([])
    expect((await world.admin.get('/auth/admin/api/home')).status).not.toBe(401)
  })

  test('token mode, a bearer token and an API token are refused', async () => {
    const world = await impersonable()
    const program = await world.signInAsAdmin({ as: 'token' })
    expect(outcome(await program.post(impersonatePath(world.userId), { reason }))).toEqual(forbidden)
    const bearer = world.client({ as: 'server', headers: { authorization: `Bearer ${program.tokens()?.accessToken}` } })
    expect(outcome(await bearer.post(impersonatePath(world.userId), { reason }))).toEqual(forbidden)
    const { token } = await world.auth.apiTokens.create({ name: 'key', access: 'READWRITE' })
    const script = world.client({ as: 'server', headers: { 'x-apikey': token } })
    expect(outcome(await script.post(impersonatePath(world.userId), { reason }))).toEqual([403, 'forbidden'])
    expect(await world.auth.sessions.list(world.userId)).toMatchObject({ items: [{ actor: null }] })
  })

  test('an impersonated session impersonates nobody else, and a sign-in that is not recent nobody', async () => {
    const world = await impersonating()
    const other = await world.auth.users.create({ email: 'other@example.test', emailVerified: true })
    expect(outcome(await world.acting.post(impersonatePath(other.id), { reason }))).toEqual(forbidden)
    expect(outcome(await world.stale.post(impersonatePath(other.id), { reason }))).toEqual([401, 'token_expired'])
    await world.stale.refresh()
    expect(outcome(await world.stale.post(impersonatePath(other.id), { reason }))).toEqual([
      403,
      'recent_login_required',
    ])
  })

  test('without the setting the route is a 404', async () => {
    const world = await impersonable({ admin: { emails: [administrator.email], twoFactor: true } })
    expect((await world.admin.post(impersonatePath(world.userId), { reason })).status).toBe(404)
  })

  test('the reason has 10 to 500 characters', async () => {
    const world = await impersonable()
    for (const bad of ['too short', 'x'.repeat(501), '         x         ']) {
      expect((await world.admin.post(impersonatePath(world.userId), { reason: bad })).status).toBe(400)
    }
  })
})

describe('ATK-174 acting too far', () => {
  const open = new Set(['POST /refresh', 'POST /logout', 'POST /impersonation/stop'])
  const changing = routes.filter(
    ({ method, path, changes, development }) =>
      (method !== 'GET' || changes) && !development && !open.has(`${method} ${path}`),
  )

  test('only refresh, logout and stop say that they stay open', () => {
    const rows = routes.filter(({ duringImpersonation }) => duringImpersonation)
    expect(new Set(rows.map(({ method, path }) => `${method} ${path}`))).toEqual(open)
  })

  test('every other route that changes something is refused, with the access token and without', async () => {
    const world = await impersonating(createOAuthPeer().settings)
    const old = world.acting.copy()
    old.cookies.clear('access-token')
    const before = (await world.auth.audit.list({ limit: 200 })).items.length
    for (const { method, path } of changing) {
      const to = `/auth${path.replaceAll(/:provider/g, 'google').replaceAll(/:\w+/g, 'some')}`
      for (const client of [world.acting, old]) {
        const answer = await send(client, method, to)
        expect({ method, to, status: answer.status }).toEqual({ method, to, status: 403 })
        expect({ to, code: codeOf(answer) }).toEqual({ to, code: 'impersonation_forbidden' })
      }
    }
    expect((await world.auth.audit.list({ limit: 200 })).items).toHaveLength(before)
    expect((await world.acting.get<SignedIn>('/auth/me')).body.user.email).toBe(ada.email)
  })

  test('every route of the control API is refused', async () => {
    const world = await impersonating()
    for (const { method, path } of routes.filter(({ control }) => control)) {
      const answer = await send(world.acting, method, `/auth${path.replaceAll(/:\w+/g, 'some')}`)
      expect({ path, code: codeOf(answer) }).toEqual({ path, code: 'impersonation_forbidden' })
    }
  })

  test('the session reads what the user reads, and the answer names the administrator', async () => {
    const world = await impersonating()
    const { body } = await world.acting.get<SignedIn>('/auth/me')
    expect(body.session.actor).toEqual({ userId: world.adminId, name: null })
    const answer = await world.acting.get('/api/things')
    expect(answer.headers.get('x-impersonated-by')).toBe(world.adminId)
    expect(world.passed.at(-1)?.principal).toMatchObject({
      userId: world.userId,
      amr: ['imp'],
      authTime: 0,
      actor: { userId: world.adminId },
    })
    await world.user.refresh()
    expect((await world.user.get('/api/things')).headers.get('x-impersonated-by')).toBeNull()
  })
})

describe('ATK-175 outliving the administrator', () => {
  const ends: [string, (world: Impersonating) => Promise<unknown>][] = [
    ['their session ends', async ({ auth, adminId }) => auth.sessions.revokeAll(adminId)],
    ['they are disabled', async ({ auth, adminId }) => auth.users.disable(adminId)],
    ['they are deleted', async ({ auth, adminId }) => auth.users.delete(adminId)],
    ['their address changes', async (world) => changeAddress(world)],
  ]

  test.each(ends)('when %s, the impersonation is over in every process', async (_, end) => {
    const shared = sharedSettings()
    const admin = { emails: [administrator.email, 'second@example.test'], twoFactor: true, impersonation }
    const world = await impersonating({ ...shared, admin })
    // The last administrator cannot be disabled.
    await world.auth.users.create({ email: 'second@example.test', emailVerified: true })
    const elsewhere = await testAuth({ ...shared, admin }, world.runtime)
    const other = world.acting.copy()
    expect((await throughOther(elsewhere, other)).status).toBe(200)
    await end(world)
    await world.runtime.clock.advance('1s')
    expect((await throughOther(elsewhere, other)).status).toBe(401)
    expect((await world.acting.get('/api/things')).status).toBe(401)
    expect((await world.acting.refresh()).status).toBe(401)
    expect((await other.refresh()).status).toBe(401)
    // The refused refresh has ended it, so that the browser can sign in again.
    expect(await eventsOf(world, 'impersonation_stopped')).toMatchObject([{ detail: { reason: 'administrator' } }])
    expect((await world.acting.signIn(ada)).status).toBe(200)
  })

  test('a changed setting ends it at the next refresh', async () => {
    const shared = sharedSettings()
    const world = await impersonating({ ...shared })
    const now = await testAuth({ ...shared, admin: { emails: ['else@example.test'], impersonation } }, world.runtime)
    const other = now.client()
    for (const cookie of world.acting.cookies.all()) other.cookies.put(cookie)
    expect((await other.refresh()).status).toBe(401)
  })

  test('no refresh extends it beyond its lifetime', async () => {
    const world = await impersonating()
    for (let minute = 0; minute < 29; minute += 4) {
      await world.runtime.clock.advance('4m')
      expect((await world.acting.refresh()).status, String(minute)).toBe(minute < 28 ? 200 : 401)
    }
    expect((await world.acting.get('/api/things')).status).toBe(401)
    expect((await world.former.refresh()).status).toBe(401)
  })

  test('the user who becomes an administrator is acted for no more', async () => {
    const world = await impersonating()
    await world.auth.users.update(world.userId, { roles: ['AUDITOR'] })
    expect((await world.acting.get('/api/things')).status).toBe(401)
    expect((await world.acting.refresh()).status).toBe(401)
  })

  test('another role of the administrator leaves it as it is, after a refresh', async () => {
    const world = await impersonating()
    await world.auth.users.update(world.adminId, { roles: ['EDITOR'] })
    expect(outcome(await world.acting.get('/api/things'))).toEqual([401, 'token_expired'])
    expect((await world.acting.refresh()).status).toBe(200)
    expect((await world.acting.get('/api/things')).status).toBe(200)
  })
})

describe('ATK-176 the way back', () => {
  test('the administrator’s own cookies give nothing while it lasts and nothing after it', async () => {
    const world = await impersonating()
    const check = async () => {
      expect((await world.former.get('/auth/me')).status).toBe(401)
      expect((await world.former.get('/auth/admin/api')).status).toBe(401)
      const refreshed = await world.former.copy().refresh()
      expect([refreshed.status, refreshed.cookies]).toEqual([401, []])
    }
    await check()
    expect((await stop(world.acting)).status).toBe(204)
    await check()
  })

  test.each([
    ['stop', stop],
    ['sign-out', (client: TestClient) => client.signOut()],
  ])('%s ends both sessions, and a copied cookie is dead', async (_, end) => {
    const world = await impersonating()
    const copy = world.acting.copy()
    const answer = await end(world.acting)
    expect(answer.status).toBe(204)
    expect(world.acting.cookies.get('access-token')).toBeNull()
    expect((await copy.get('/auth/me')).status).toBe(401)
    expect((await copy.refresh()).status).toBe(401)
    expect((await world.auth.sessions.list(world.userId)).items).toHaveLength(1)
    expect((await stop(copy)).status).toBe(204)
    expect(await eventsOf(world, 'impersonation_stopped')).toHaveLength(1)
  })

  test('stop leaves an ordinary session alone', async () => {
    const world = await impersonable()
    expect(outcome(await stop(world.user))).toEqual([204, undefined])
    expect((await world.user.get('/auth/me')).status).toBe(200)
  })
})

describe('ATK-177 forged actor', () => {
  test('no body, query or header names an actor', async () => {
    const world = await impersonable()
    const forged = { 'x-impersonated-by': world.adminId, act: world.adminId }
    const answer = await world.user.patch(
      '/auth/me?actor=admin&impersonating=admin',
      { name: 'Ada' },
      { headers: forged },
    )
    expect(answer.status).toBe(200)
    const [event] = (await world.auth.audit.list({ event: 'profile_changed' })).items
    expect(event?.actor).toMatchObject({ userId: world.userId, impersonating: null })
    const guarded = await world.user.get('/api/things', { headers: forged })
    expect(guarded.headers.get('x-impersonated-by')).toBeNull()
    expect(world.passed.at(-1)?.principal).toMatchObject({ actor: null })
    const withActor = { reason, actor: world.userId, by: world.userId }
    expect((await world.admin.post(impersonatePath(world.userId), withActor)).status).toBe(400)
  })

  test('events of an impersonation name both persons', async () => {
    const world = await impersonating()
    const acting = (await world.acting.get<SignedIn>('/auth/me')).body.session.id
    await stop(world.acting)
    for (const event of ['impersonation_started', 'impersonation_stopped'] as const) {
      const [found] = await eventsOf(world, event)
      expect(found).toMatchObject({
        userId: world.userId,
        sessionId: acting,
        actor: { kind: 'user', userId: world.adminId, impersonating: world.userId },
        detail: event === 'impersonation_started' ? { reason } : { reason: 'stopped', seconds: 0 },
      })
    }
  })
})

describe('ATK-194 own script, borrowed eyes', () => {
  test('after a script has called stop, nothing reads the control API before a new sign-in', async () => {
    const world = await impersonating()
    await stop(world.acting)
    expect((await world.acting.get('/auth/admin/api')).status).toBe(401)
    expect((await world.acting.refresh()).status).toBe(401)
    const again = await world.signInAsAdmin()
    expect((await again.get('/auth/admin/api')).status).toBe(200)
  })
})

describe('ATK-195 what impersonation must not give', () => {
  test('nothing of the user’s ends or changes, and no hook runs', async () => {
    const ran: string[] = []
    const hook = (name: string) => () => void ran.push(name)
    const world = await impersonable({
      maxSessions: 1,
      hooks: { beforeLogin: hook('before'), afterLogin: hook('after') },
    })
    const before = await world.auth.users.get(world.userId)
    const mails = world.mailbox.mails.length
    ran.length = 0
    const answer = await world.admin.post<SignedIn>(impersonatePath(world.userId), { reason })
    expect(answer.cookies.map(({ name }) => name).sort()).toEqual(['access-token', 'refresh-token'])
    expect([ran, world.mailbox.mails.length]).toEqual([[], mails])
    expect(await world.auth.users.get(world.userId)).toEqual(before)
    expect((await world.user.get('/auth/me')).status).toBe(200)
    const listed = await world.user.get<{ sessions: { actor: unknown }[] }>('/auth/sessions')
    expect(listed.body.sessions.map(({ actor }) => actor)).toEqual([{ userId: world.adminId }, null])
  })

  test('it is never recent, and a route can refuse it', async () => {
    const world = await impersonating()
    const gates = { recent: world.auth.require({ recent: '90d' }), own: world.auth.require({ actor: false }) }
    const through = (gate: keyof typeof gates, from: TestClient) => {
      const client = world.client({
        next: (request) => gates[gate](request, () => Response.json({})),
      })
      for (const cookie of from.cookies.all()) client.cookies.put(cookie)
      return client.get('/api/tenant')
    }
    expect(outcome(await through('recent', world.acting))).toEqual([403, 'recent_login_required'])
    expect(outcome(await through('own', world.acting))).toEqual(forbidden)
    expect(outcome(await through('recent', world.user))).toEqual([200, undefined])
    expect(outcome(await through('own', world.user))).toEqual([200, undefined])
  })

  test('a rule that demands a second factor is not met by that of the administrator', async () => {
    const world = await impersonating({ twoFactor: { required: true } })
    expect(outcome(await world.acting.get('/api/things'))).toEqual([403, 'two_factor_enrolment_required'])
  })
})

describe('ATK-196 tabs around impersonation', () => {
  test('of many stops one ends it, and all are answered alike', async () => {
    const world = await impersonating()
    const tabs = Array.from({ length: 20 }, () => world.acting.copy())
    const answers = await Promise.all(tabs.map(stop))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]))
    expect(await eventsOf(world, 'impersonation_stopped')).toHaveLength(1)
  })

  test('a stop after the lifetime and one after another tab refreshed end it once, without alarm', async () => {
    const world = await impersonating()
    const tab = world.acting.copy()
    await world.acting.refresh()
    await world.runtime.clock.advance('31s')
    expect((await stop(tab)).status).toBe(204)
    await world.runtime.clock.advance('31m')
    expect((await stop(world.acting)).status).toBe(204)
    expect((await world.auth.audit.list({ event: 'refresh_token_reuse' })).items).toEqual([])
    expect(await eventsOf(world, 'impersonation_stopped')).toHaveLength(1)
  })

  test('refreshes around start and stop never bring the administrator back', async () => {
    const world = await impersonable()
    const tab = world.admin.copy()
    const [, started] = await Promise.all([tab.refresh(), world.admin.post(impersonatePath(world.userId), { reason })])
    expect(started.status).toBe(200)
    expect((await tab.get('/auth/admin/api')).status).toBe(401)
    const other = world.admin.copy()
    await Promise.all([other.refresh(), stop(world.admin)])
    expect((await other.get('/auth/me')).status).toBe(401)
    expect((await tab.refresh()).status).toBe(401)
  })
})

/** As an older browser that goes to the address, because a script may not call what a GET changes. The answer is JSON. */
const unmarked = { 'sec-fetch-mode': null, 'sec-fetch-dest': null }

async function send(client: TestClient, method: string, path: string): Promise<TestAnswer> {
  if (method === 'GET') return client.get(path, { headers: unmarked })
  if (method === 'POST') return client.post(path, {})
  return method === 'PATCH' ? client.patch(path, {}) : client.delete(path, {})
}

/** The administrator changes their address in another browser, to one that `admin.emails` does not name. */
async function changeAddress({ mailbox, signInAsAdmin }: Impersonating): Promise<void> {
  const browser = await signInAsAdmin()
  await browser.post('/auth/email/change', { newEmail: 'else@example.test', password: administrator.password })
  const token = mailbox.token(await mailbox.waitFor('else@example.test', /confirm/i))
  expect((await browser.post('/auth/email/confirm', { token })).status).toBe(200)
}

async function throughOther(
  { client }: Awaited<ReturnType<typeof testAuth>>,
  browser: TestClient,
): Promise<TestAnswer> {
  const there = client()
  for (const cookie of browser.cookies.all()) there.cookies.put(cookie)
  return there.get('/api/things')
}
