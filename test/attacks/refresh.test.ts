import { afterAll, describe, expect, test } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { ada, attackServer, claimsOf, heldTokens } from '../support/attack-server.js'

const server = await attackServer({ file: true })
afterAll(() => server.close())
const { clock } = server.runtime

const roles = [
  ['a browser', {}],
  ['an app', { as: 'token' }],
] as const

async function signUp(email: string, options = {}): Promise<TestClient> {
  const client = server.client(options)
  await client.signUp({ ...ada, email })
  return client
}

function counterOf(client: TestClient): unknown {
  return claimsOf(heldTokens(client).refresh).ctr
}

/** Uses the access token, so that its rotation is proven, and lets the proof be written. */
async function use(client: TestClient): Promise<number> {
  const { status } = await client.get('/api/secret')
  await clock.advance('2s')
  return status
}

async function expectEnded(...clients: TestClient[]): Promise<void> {
  for (const client of clients) {
    expect((await client.get('/api/secret')).status).toBe(401)
    expect((await client.refresh()).status).toBe(401)
  }
}

function events(event: string): number {
  return server.sql('select id from latchkey_audit where event = ?', event).length
}

describe.each(roles)('two holders of the tokens of %s', (who, options) => {
  const address = (nth: number) => `holder${nth}-${who.replace(' ', '-')}@example.test`

  test('ATK-068 the copy of a superseded refresh token gets nothing, and half a minute later ends the session', async () => {
    const email = address(1)
    const victim = await signUp(email, options)
    const thief = victim.copy()
    expect((await victim.refresh()).status).toBe(200)
    expect([counterOf(victim), await use(victim)]).toEqual([1, 200])

    const early = await thief.copy().refresh()
    expect([early.status, early.headers.getSetCookie(), 'accessToken' in early.body]).toEqual([200, [], false])
    expect(await use(victim)).toBe(200)

    const theft = events('refresh_token_reuse')
    await clock.advance('30s')
    expect((await thief.refresh()).body).toMatchObject({ status: 401, code: 'token_revoked' })
    await expectEnded(victim, thief)
    expect(events('refresh_token_reuse')).toBe(theft + 1)
    const told = await server.mailbox.waitFor(email, /sign|session|token/i)
    expect(told.text).not.toMatch(/token=|eyJ/)
  })

  test('ATK-068 the thief who refreshes first is found out when the victim comes back', async () => {
    const victim = await signUp(address(2), options)
    const thief = victim.copy()
    await thief.refresh()
    expect(await use(thief)).toBe(200)
    await clock.advance('31s')
    expect((await victim.refresh()).body).toMatchObject({ code: 'token_revoked' })
    await expectEnded(victim, thief)
  })

  test('ATK-068 a token two rotations old ends the session at once, used or not', async () => {
    const victim = await signUp(address(3), options)
    const old = victim.copy()
    await victim.refresh()
    await use(victim)
    await clock.advance('31s')
    await victim.refresh()
    expect(counterOf(victim)).toBe(2)
    expect((await old.refresh()).body).toMatchObject({ code: 'token_revoked' })
    await expectEnded(victim, old)
  })

  test('ATK-069 a lost answer signs nobody out, however late it is asked for again', async () => {
    const client = await signUp(address(4), options)
    const beforeLoss = client.copy()
    await client.refresh()
    const lost = heldTokens(client).refresh
    await clock.advance('3h')
    expect((await beforeLoss.refresh()).status).toBe(200)
    expect(heldTokens(beforeLoss).refresh).toBe(lost)
    expect(await use(beforeLoss)).toBe(200)
    await clock.advance('31s')
    expect([(await beforeLoss.refresh()).status, counterOf(beforeLoss)]).toEqual([200, 2])
  })

  test('ATK-069 five tabs may refresh at once, round after round, and nobody is signed out', async () => {
    let jar = await signUp(address(5), options)
    for (let round = 1; round <= 6; round += 1) {
      const tabs = Array.from({ length: 5 }, () => jar.copy())
      const answers = await Promise.all(tabs.map((tab) => tab.refresh()))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect(new Set(tabs.map((tab) => heldTokens(tab).refresh)).size).toBe(1)
      expect(tabs.map(counterOf)).toEqual(Array(5).fill(round))
      for (const tab of tabs) expect((await tab.get('/api/secret')).status).toBe(200)
      jar = tabs[round % 5] ?? jar
      await use(jar)
      await clock.advance('31s')
    }
  })

  test('ATK-069 five tabs within the half minute get access tokens and keep the refresh token', async () => {
    const jar = await signUp(address(6), options)
    await jar.refresh()
    await use(jar)
    const kept = heldTokens(jar).refresh
    const tabs = Array.from({ length: 5 }, () => jar.copy())
    const answers = await Promise.all(tabs.map((tab) => tab.refresh()))
    for (const { status } of answers) expect(status).toBe(200)
    expect(tabs.map((tab) => heldTokens(tab).refresh)).toEqual(Array(5).fill(kept))
    // An app is told it again, so that it may store whatever an answer brings.
    const told = answers.map(({ body }) => Reflect.get(Object(body), 'refreshToken'))
    expect(told).toEqual(Array(5).fill(who === 'an app' ? kept : undefined))
  })
})

describe('refresh tokens elsewhere', () => {
  test('ATK-070 a successor that goes to another device is written down', async () => {
    const victim = await signUp('device@example.test')
    const [thief, tab] = [victim.copy(), victim.copy()]
    await victim.refresh()
    const before = events('refresh_reissued')
    // Another tab of the same browser: nothing to tell of.
    expect((await tab.refresh()).status).toBe(200)
    expect(events('refresh_reissued')).toBe(before)
    await thief.post('/auth/refresh', undefined, { headers: { 'user-agent': 'curl/8' } })
    expect(events('refresh_reissued')).toBe(before + 1)
    const { sub, sid } = claimsOf(heldTokens(victim).refresh)
    const { items } = await server.auth.audit.list({ event: 'refresh_reissued', userId: String(sub) })
    expect(items).toEqual([expect.objectContaining({ userId: sub, sessionId: sid, outcome: 'success' })])
  })

  test('ATK-070 a successor that goes to another network is written down', async () => {
    const victim = await signUp('network@example.test')
    const thief = victim.copy()
    await victim.refresh()
    const before = events('refresh_reissued')
    server.sql(
      "update latchkey_sessions set ip = '198.51.100.7' where id = ?",
      claimsOf(heldTokens(victim).refresh).sid,
    )
    expect((await thief.refresh()).status).toBe(200)
    expect(events('refresh_reissued')).toBe(before + 1)
  })

  test('ATK-059 the token of a browser is refused to an app, and the other way round', async () => {
    const browser = await signUp('mode@example.test')
    const app = server.client({ as: 'token' })
    await app.signIn({ ...ada, email: 'mode@example.test' })
    const body = { refreshToken: heldTokens(browser).refresh }
    const asApp = await server.ask('POST', '/auth/refresh', { headers: { 'x-auth-mode': 'token' }, body })
    const headers = { cookie: `refresh-token=${heldTokens(app).refresh}`, origin: server.url }
    const asBrowser = await server.ask('POST', '/auth/refresh', { headers })
    expect([asApp.body, asBrowser.body]).toMatchObject([{ code: 'forbidden' }, { code: 'forbidden' }])
    expect([asApp, asBrowser].flatMap((answer) => answer.headers.getSetCookie())).toEqual([])
  })

  test('ATK-071 no refreshing carries a session over its absolute end, nor over a month of silence', async () => {
    const [busy, idle] = [await signUp('busy@example.test'), await signUp('idle@example.test')]
    for (let days = 20; days <= 80; days += 20) {
      await clock.advance('20d')
      expect((await busy.refresh()).status).toBe(200)
      await use(busy)
    }
    expect((await idle.refresh()).body).toMatchObject({ status: 401 })
    await clock.advance('10d')
    expect((await busy.refresh()).status).toBe(401)
    expect((await busy.get('/api/secret')).status).toBe(401)
  })
})

describe('ATK-072 refreshing while sessions end', () => {
  const account = { ...ada, email: 'race@example.test' }

  /** Every token that this client and its copies ever got must be dead. */
  async function expectDead(tokens: Iterable<{ access: string; refresh: string }>): Promise<void> {
    for (const { access, refresh } of tokens) {
      const headers = { cookie: `access-token=${access}; refresh-token=${refresh}`, origin: server.url }
      expect((await server.ask('GET', '/api/secret', { headers })).status).toBe(401)
      expect((await server.ask('POST', '/auth/refresh', { headers })).status).toBe(401)
    }
  }

  test('ATK-072 fifty races of three refreshes with the end of all other sessions leave no token alive', async () => {
    const keeper = await signUp(account.email)
    for (let race = 0; race < 50; race += 1) {
      const victim = server.client()
      await victim.signIn(account)
      const tabs = [victim, victim.copy(), victim.copy()]
      const refreshes = tabs.map((tab) => tab.refresh())
      // Sooner and later: in the same turn, and when the first refresh is under way.
      if (race % 2) await new Promise((resolve) => setImmediate(resolve))
      const [ended] = await Promise.all([keeper.delete('/auth/sessions'), ...refreshes])
      expect(ended.status).toBe(204)
      await expectDead(tabs.map(heldTokens))
    }
    expect((await keeper.get('/api/secret')).status).toBe(200)
  })

  test('ATK-072 fifty races of two refreshes with a sign-out leave no token alive', async () => {
    for (let race = 0; race < 50; race += 1) {
      const victim = server.client()
      await victim.signIn(account)
      const before = heldTokens(victim)
      const tabs = [victim.copy(), victim.copy()]
      const refreshes = tabs.map((tab) => tab.refresh())
      if (race % 2) await new Promise((resolve) => setImmediate(resolve))
      const [out] = await Promise.all([victim.signOut(), ...refreshes])
      expect(out.status).toBe(204)
      await expectDead([before, ...tabs.map(heldTokens)])
    }
  })
})
