import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { longestAccessTokenSeconds } from '../../src/settings/lifetimes.js'
import type { TestClient } from '../../src/testing.js'
import { type Answer, type AttackServer, ada, attackServer, heldTokens } from '../support/attack-server.js'
import { keys } from './life.js'

/** Two processes on one store, as one application. */
const folder = mkdtempSync(join(tmpdir(), 'latchkey-attack-'))
const secrets = {
  JWT_ACCESS_TOKEN_SECRET: keys.JWT_ACCESS_TOKEN_SECRET,
  JWT_REFRESH_TOKEN_SECRET: keys.JWT_REFRESH_TOKEN_SECRET,
}
const shared = { ...secrets, baseUrl: 'http://127.0.0.1:3000', database: `sqlite:${join(folder, 'latchkey.db')}` }
const here = await attackServer({ settings: shared })
const there = await attackServer({ settings: shared })
afterAll(async () => {
  await Promise.all([here.close(), there.close()])
  rmSync(folder, { recursive: true, force: true })
})

const own = { headers: { origin: 'http://127.0.0.1:3000' } }

async function advance(by: string | number): Promise<void> {
  await Promise.all([here, there].map(({ runtime }) => runtime.clock.advance(by)))
}

async function signUp(email: string, options = {}): Promise<TestClient> {
  const client = here.client({ ...own, ...options })
  await client.signUp({ ...ada, email })
  return client
}

async function signIn(email: string, options = {}): Promise<TestClient> {
  const client = here.client({ ...own, ...options })
  await client.signIn({ ...ada, email })
  return client
}

/** What both tokens of a holder are worth at one server, asked without touching what the holder has. */
async function worth(server: AttackServer, tokens: { access: string; refresh: string }): Promise<[number, number]> {
  const headers = { authorization: `Bearer ${tokens.access}` }
  const access = await server.ask('GET', '/api/secret', { headers })
  return [access.status, (await refreshWith(server, tokens.refresh)).status]
}

async function refreshWith(server: AttackServer, refresh: string): Promise<Answer> {
  const cookie = { cookie: `refresh-token=${refresh}`, origin: shared.baseUrl }
  const byCookie = await server.ask('POST', '/auth/refresh', { headers: cookie })
  if (byCookie.status !== 403) return byCookie
  return server.ask('POST', '/auth/refresh', { headers: { 'x-auth-mode': 'token' }, body: { refreshToken: refresh } })
}

const dead: [number, number] = [401, 401]

describe.each([
  ['browsers', {}],
  ['apps', { as: 'token', headers: {} }],
] as const)('sessions of %s', (who, options) => {
  test('ATK-065 ending all others ends them at once here, within a second elsewhere, and not this one', async () => {
    const email = `others-${who}@example.test`
    const keeper = await signUp(email, options)
    const others = [await signIn(email, options), await signIn(email, options)]
    for (const other of others) expect(await worth(there, heldTokens(other))).toEqual([200, 200])
    expect((await keeper.delete('/auth/sessions')).status).toBe(204)
    for (const other of others) expect(await worth(here, heldTokens(other))).toEqual(dead)
    await advance(1_000)
    for (const other of others) expect(await worth(there, heldTokens(other))).toEqual(dead)
    expect((await keeper.get('/api/secret')).status).toBe(200)
    expect((await keeper.get<{ sessions: unknown[] }>('/auth/sessions')).body.sessions).toHaveLength(1)
  })

  test('ATK-063 signing out ends both tokens, for every copy of them', async () => {
    const holder = await signUp(`out-${who}@example.test`, options)
    const before = heldTokens(holder)
    await holder.refresh()
    const after = heldTokens(holder)
    expect((await holder.signOut()).status).toBe(204)
    for (const tokens of [before, after]) expect(await worth(here, tokens)).toEqual(dead)
    await advance(1_000)
    for (const tokens of [before, after]) expect(await worth(there, tokens)).toEqual(dead)
  })

  test('ATK-066 a deleted user is refused everywhere, with every token and by the password', async () => {
    const email = `deleted-${who}@example.test`
    const client = await signUp(email, options)
    const other = await signIn(email, options)
    expect((await client.delete('/auth/me', { password: ada.password })).status).toBe(204)
    expect(await worth(here, heldTokens(other))).toEqual(dead)
    await advance(1_000)
    expect(await worth(there, heldTokens(other))).toEqual(dead)
    const login = await there.ask('POST', '/auth/login', { body: { ...ada, email } })
    expect(login.body).toMatchObject({ status: 401, code: 'invalid_credentials' })
  })
})

describe('ATK-066 a disabled user', async () => {
  const server = await attackServer({ file: true })
  afterAll(() => server.close())

  /** What disabling does to the store, until there is a server call for it. */
  function disable(id: string, until: number | null): void {
    const now = server.runtime.clock.now()
    const query = 'update latchkey_users set disabled_at = ?, disabled_until = ?, version = version + 1 where id = ?'
    server.sql(query, Math.floor(now / 1_000), until, id)
    const row = 'insert into latchkey_changes select ?, ?, ?, id, version, ? from latchkey_users where id = ?'
    server.sql(row, `change-${now}-${id}`, now, 'user', Math.floor(now / 1_000) + 3_600, id)
  }

  test.each([
    ['for good', null],
    ['for a while', 3_600],
  ])('ATK-066 %s gets nothing any more, by nothing that was given before', async (title, seconds) => {
    const email = `${title.replaceAll(' ', '-')}@example.test`
    const browser = server.client()
    const { body } = await browser.signUp({ ...ada, email })
    const app = server.client({ as: 'token' })
    await app.signIn({ ...ada, email })
    disable(body.user.id, seconds === null ? null : Math.floor(server.runtime.clock.now() / 1_000) + seconds)

    // The store is asked at once; what only the token says, within a second.
    expect((await browser.copy().refresh()).status).toBe(401)
    expect((await app.copy().refresh()).status).toBe(401)
    expect((await server.client().post('/auth/login', { ...ada, email })).body).toMatchObject({
      code: 'account_disabled',
    })
    await server.runtime.clock.advance('1s')
    for (const client of [browser, app]) {
      for (const path of ['/api/secret', '/auth/me', '/auth/sessions'])
        expect((await client.get(path)).status).toBe(401)
      expect((await client.patch('/auth/me', { name: 'x' })).status).toBe(401)
      expect((await client.delete('/auth/me', { password: ada.password })).status).toBe(401)
    }
    expect(server.calls).toEqual([])
    await server.client().post('/auth/register', { ...ada, email })
    expect((await server.mailbox.waitFor(email, /already/i)).text).not.toContain('token=')

    if (seconds === null) return
    await server.runtime.clock.advance(seconds * 1_000)
    await server.client().signIn({ ...ada, email })
  })
})

describe('ATK-074 ids', () => {
  test('ATK-074 ids of users and sessions are 128 random bits each', async () => {
    const server = await attackServer()
    const ids: string[] = []
    try {
      for (let nth = 0; nth < 40; nth += 1) {
        const { body } = await server.client().signUp({ ...ada, email: `id${nth}@example.test` })
        ids.push(body.user.id, body.session.id)
      }
    } finally {
      await server.close()
    }
    expect(new Set(ids).size).toBe(80)
    const bytes = ids.map((id) => Buffer.from(id, 'base64url'))
    for (const [index, id] of ids.entries()) expect([id.length, bytes[index]?.length]).toEqual([22, 16])
    // Of 80 fair coins none falls 64 times on one side but once in ten million.
    for (let bit = 0; bit < 128; bit += 1) {
      const set = bytes.filter((id) => ((id[bit >> 3] ?? 0) >> (bit & 7)) & 1).length
      expect([bit, set > 13 && set < 67]).toEqual([bit, true])
    }
  })

  test('ATK-074 nobody sees or ends the session of somebody else, nor learns that it is there', async () => {
    const [alice, bob] = [await signUp('alice74@example.test'), await signUp('bob74@example.test')]
    const id = (await alice.get<{ session: { id: string } }>('/auth/me')).body.session.id
    const { body } = await bob.get<{ sessions: { id: string }[] }>('/auth/sessions')
    expect([body.sessions.length, body.sessions.some((session) => session.id === id)]).toEqual([1, false])
    const theirs = await bob.delete<{ requestId: string }>(`/auth/sessions/${id}`)
    const nobodys = await bob.delete<{ requestId: string }>(`/auth/sessions/${id.slice(0, -2)}AA`)
    expect([theirs.status, nobodys.status]).toEqual([404, 404])
    expect({ ...theirs.body, requestId: '' }).toEqual({ ...nobodys.body, requestId: '' })
    expect((await alice.get('/api/secret')).status).toBe(200)
  })
})

test('ATK-066 the news of what ended is kept until no token of it can live, also where a clock is two minutes behind', async () => {
  const server = await attackServer({ file: true, settings: { accessTokenLifetime: '5m' } })
  const browser = server.client()
  const { body } = await browser.signUp(ada)
  server.sql('delete from latchkey_changes')
  await server.client().signIn(ada)
  await browser.delete('/auth/sessions')
  await server.auth.users.update(body.user.id, { roles: ['EDITOR'] })
  await browser.refresh()
  await browser.post('/auth/logout', undefined)
  const rows = server.sql<{ kind: string; matters_until: number }>('select kind, matters_until from latchkey_changes')
  const until = Math.floor(server.runtime.clock.now() / 1_000) + longestAccessTokenSeconds + 120
  expect(rows.map(({ kind }) => kind).sort()).toEqual(['session', 'session', 'user'])
  expect(rows.map(({ matters_until }) => matters_until)).toEqual([until, until, until])
  await server.close()
})
