import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { pageRoutes } from '../../src/routes/page-routes.js'
import type { TestClient } from '../../src/testing.js'
import { type AttackServer, ada, attackServer, heldTokens } from '../support/attack-server.js'
import { enrol } from '../support/totp.js'
import { readVectors } from '../support/vectors.js'

interface Redirects {
  payloads: { payload: string; expect: string }[]
}

const landings = readVectors<Redirects>('open-redirects').payloads
const paths = pageRoutes.flatMap(({ path, aliases }) => [path, ...(aliases ?? [])])
/** They lead whoever is not signed in to the sign-in page and back. */
const pathsOfUsers = pageRoutes.filter(({ signedIn }) => signedIn).map(({ path }) => path)
const markup = '"><script>alert(1)</script><img src=x onerror=alert(1)>'

let server: AttackServer
let cookies: string

beforeAll(async () => {
  server = await attackServer({ settings: { redirectSuccessUrl: '/api/secret', limits: roomy() }, file: true })
  await server.client().signUp(ada)
  const client = server.client()
  await client.signUp({ email: 'held@example.test', password: ada.password })
  const { access, refresh } = heldTokens(client)
  cookies = `access-token=${access}; refresh-token=${refresh}`
})

afterAll(() => server.close())

beforeEach(() => {
  server.calls.length = 0
})

/** So many requests come from one address here. */
function roomy() {
  const plenty = { ip: '100000/1m' }
  return { login: { ...plenty, account: '100000/15m' }, mail: plenty, guess: plenty, other: plenty, refresh: plenty }
}

describe('ATK-083 every page', () => {
  test.each(paths)('ATK-083 %s runs our script only, in nobody’s frame, kept by nobody', async (path) => {
    const { status, headers, text } = await server.client().open(`/auth${path}?token=sample`)
    expect(status).toBe(200)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("base-uri 'none'")
    expect(policy).not.toMatch(/unsafe|nonce|\*|http:/)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'strict-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
    })
    expect(text).not.toMatch(
      /<style|\sstyle=|\son\w+=|javascript:|<script(?! src="\/auth\/assets\/latchkey\.[0-9a-f]+\.js" defer><\/script>)/i,
    )
    expect(text).not.toMatch(/(?:src|href|action)="(?!\/(?!\/))/)
  })

  test.each(paths)('ATK-083 %s shows what its address says as text or not at all', async (path) => {
    for (const name of ['token', 'error', 'reasons', 'redirect', 'email', 'done', 'again', 'request', 'name']) {
      const { status, text } = await server.client().open(`/auth${path}?${new URLSearchParams({ [name]: markup })}`)
      expect(status).toBe(200)
      expect(text).not.toMatch(/<script>|<img/)
    }
  })

  test('ATK-083 pages of errors are no other', async () => {
    for (const path of ['/auth/nothing', `/auth/${encodeURIComponent(markup)}`, '/auth/logout']) {
      const { headers, text } = await server.client().open(path)
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /)
      expect(text).not.toMatch(/<script>|<img/)
    }
  })
})

describe('ATK-094 where pages and their forms lead', () => {
  test.each(landings.filter(({ expect }) => expect === 'deny').map(({ payload }) => payload))(
    'ATK-094 %j is taken along by no page and no form',
    async (payload) => {
      const query = new URLSearchParams({ redirect: payload })
      for (const path of paths.filter((name) => !pathsOfUsers.includes(name))) {
        const { text } = await server.client().open(`/auth${path}?${query}`)
        expect(text).not.toContain('_redirect')
        expect(text).not.toMatch(/href="[^"]*redirect/)
      }
      for (const path of pathsOfUsers) {
        const { headers } = await server.ask('GET', `/auth${path}?${query}`)
        expect(headers.get('location')).toBe(`/auth/login?${new URLSearchParams({ redirect: `/auth${path}` })}`)
      }
      const led = await server.ask('GET', `/auth/login?${query}`, { headers: { cookie: cookies } })
      expect([led.status, led.headers.get('location')]).toEqual([303, '/api/secret'])
      const refused = await form('/auth/login', { ...ada, password: 'a wrong one', _redirect: payload })
      expect(refused).toBe('/auth/login?error=invalid_credentials')
      expect(await form('/auth/login', { ...ada, _redirect: payload })).toBe('/api/secret')
      expect(await form('/auth/refresh', { _redirect: payload }, cookies)).toBe('/api/secret')
      expect(await form('/auth/refresh', { _redirect: payload })).toBe('/auth/login?error=unauthenticated')
      expect(await form('/auth/otp', { email: 'nobody@example.test', _redirect: payload })).toBe('/auth/otp')
    },
  )

  test.each(landings.filter(({ expect }) => expect === 'allow').map(({ payload }) => payload))(
    'ATK-094 %j is taken along',
    async (payload) => {
      const { text } = await server.client().open(`/auth/login?${new URLSearchParams({ redirect: payload })}`)
      expect(text).toContain('name="_redirect"')
      expect(await form('/auth/login', { ...ada, _redirect: payload })).toBe(payload)
    },
  )
})

async function form(path: string, fields: Record<string, string>, cookie?: string): Promise<string | null> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: server.url, ...(cookie && { cookie }) }
  const answer = await server.ask('POST', path, { headers, body: String(new URLSearchParams(fields)) })
  expect(answer.status).toBe(303)
  return answer.headers.get('location')
}

describe('ATK-082 what a script could read', () => {
  test('ATK-082 no page and no address holds a token, a handle or a challenge, all the way in', async () => {
    const { seen, client } = recording()
    const email = 'trail@example.test'
    await client.submit('/auth/register', { email, password: ada.password })
    const code = server.mailbox.code(await server.mailbox.waitFor(email))
    await client.submit('/auth/verify-email', { code })
    const factor = await enrol(client, ada.password, server.runtime.clock)
    await client.submit('/auth/logout', {})
    await client.submit('/auth/otp', { email })
    const otp = server.mailbox.code(await server.mailbox.waitFor(email, 'Your code'))
    await client.submit('/auth/otp/verify', { code: otp })
    await client.submit('/auth/login/two-factor', { code: await factor.nextCode() })
    await client.submit('/auth/refresh', {})
    await client.open('/auth/login?again=1')

    const secrets = new Set(seen.flatMap(({ cookies }) => cookies))
    expect(secrets.size).toBeGreaterThan(6)
    const shown = seen.map(({ text, location }) => `${text}\n${location}`).join('\n')
    for (const secret of [...secrets, code, otp]) expect(shown).not.toContain(secret)
  })
})

/** A browser, and all that its answers showed to the page, with the cookies that they set beside it. */
function recording() {
  const seen: { text: string; location: string; cookies: string[] }[] = []
  const client: TestClient = server.client()
  const receive = client.cookies.receive.bind(client.cookies)
  client.cookies.receive = (from, lines) => {
    const taken = receive(from, lines)
    seen.push({ text: '', location: String(from), cookies: taken.map(({ value }) => value).filter(Boolean) })
    return taken
  }
  const submit = client.submit.bind(client)
  client.submit = async (...given) => {
    const answer = await submit(...given)
    seen.push({ text: answer.text, location: String(answer.url), cookies: [] })
    return answer
  }
  return { seen, client }
}

describe('ATK-033 what opens every link', () => {
  test('ATK-033 a scanner that GETs, HEADs and prefetches every link of every mail and page changes nothing', async () => {
    const email = 'scanned@example.test'
    const client = server.client()
    await client.signUp({ email, password: ada.password })
    await client.submit('/auth/password/forgot', { email })
    await client.submit('/auth/otp', { email })
    await client.post('/auth/email/change', { newEmail: 'moved@example.test', password: ada.password })
    await server.mailbox.waitFor('moved@example.test')
    await server.mailbox.waitFor(email, 'Your code')

    const scanner = server.client({ as: 'server' })
    const links = new Set(paths.map((path) => `${server.url}/auth${path}`))
    for (const { text, html } of server.mailbox.mails) {
      for (const [link] of `${text} ${html}`.matchAll(/https?:\/\/[^\s"<>]+/g))
        links.add(link.replaceAll('&#x3D;', '='))
    }
    expect(links.size).toBeGreaterThan(paths.length + 3)
    const before = state()
    const cookie = client.cookies.header(new URL('/auth/login', server.url)) ?? ''
    for (const link of links) {
      const { text } = await scanner.get<string>(link)
      for (const [, href = ''] of text.matchAll(/href="(\/[^"]*)"/g)) await scanner.get(href.replaceAll('&#x3D;', '='))
      await server.ask('HEAD', link)
      await server.ask('GET', link, { headers: { cookie, 'sec-purpose': 'prefetch', 'sec-fetch-mode': 'navigate' } })
    }
    expect(state()).toEqual(before)
    expect((await client.get('/auth/me')).status).toBe(200)
  })
})

/** All that a person would mind being changed: what is kept, but for counters and the times of sight. */
function state(): Record<string, unknown[]> {
  return {
    users: server.sql('select * from latchkey_users order by id'),
    tokens: server.sql('select * from latchkey_one_time_tokens order by id'),
    sessions: server.sql('select id, user_id, counter, expires_at from latchkey_sessions order by id'),
    audit: server.sql('select id from latchkey_audit order by id'),
    mails: server.sql('select id from latchkey_outbox order by id'),
  }
}
