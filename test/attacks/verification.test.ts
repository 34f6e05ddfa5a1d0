import { afterAll, describe, expect, test } from 'vitest'
import type { TestClient } from '../../src/testing.js'
import { attackServer, expectRefusal, heldTokens } from '../support/attack-server.js'

const server = await attackServer({ file: true })
const hasty = await attackServer({ settings: { registration: { emailVerification: 'optional' } } })
afterAll(() => Promise.all([server.close(), hasty.close()]))

const password = 'correct horse battery'

/** Registers in a browser of its own. */
async function register(email: string, secret = password, client = server.client()) {
  expect((await client.post('/auth/register', { email, password: secret })).status).toBe(202)
  const mail = await server.mailbox.waitFor(email)
  return { client, token: server.mailbox.token(mail), code: server.mailbox.code(mail), link: server.mailbox.link(mail) }
}

async function verify(client: TestClient, proof: object) {
  const answer = await client.post<{ code?: string; user?: { email: string } }>('/auth/verify-email', proof)
  return { ...answer, outcome: answer.status === 200 ? answer.body.user?.email : answer.body.code }
}

function users(email: string): unknown[] {
  return server.sql('select id from latchkey_users where email_canonical = ?', email)
}

function sessions(email: string): number {
  const join = 'latchkey_sessions s join latchkey_users u on u.id = s.user_id where u.email_canonical = ?'
  return server.sql(`select s.id from ${join}`, email).length
}

test("ATK-220 a registration's mail says nothing that a stranger wrote", async () => {
  const name = 'Your account is blocked, call +1 555 0100'
  const body = { email: 'read@example.test', password, name }
  const browser = server.client()
  expect((await browser.post('/auth/register', body)).status).toBe(202)
  const first = await server.mailbox.waitFor(body.email)
  expect((await browser.post('/auth/verify-email/resend', {})).status).toBe(202)
  const again = await server.mailbox.waitFor(body.email)
  for (const mail of [first, again]) expect(`${mail.subject} ${mail.text} ${mail.html}`).not.toContain('blocked')
  expect(server.mailbox.link(again)).not.toBe(server.mailbox.link(first))

  await hasty.client().post('/auth/register', body)
  expect((await hasty.mailbox.waitFor(body.email)).text).not.toContain('blocked')
})

describe('ATK-031 tokens of other people', () => {
  test('ATK-031 the token alone decides, whoever is signed in and whatever else is said', async () => {
    const a = await register('a31@example.test')
    const b = await register('b31@example.test')
    await verify(b.client, { token: b.token })
    const extras = [
      {},
      { email: 'b31@example.test' },
      { email: 'b31@example.test', code: b.code },
      { userId: 'b', sub: 'b' },
    ]
    for (const extra of extras) {
      expect((await verify(b.client, { token: a.token, ...extra })).outcome).toBe('invalid_request')
      expect((await verify(b.client, { token: a.token, ...extra, password: 'wrong' })).outcome).toBe(
        'invalid_credentials',
      )
      const inQuery = await b.client.post('/auth/verify-email?email=b31@example.test&token=x', {
        token: a.token,
        ...extra,
      })
      expect(inQuery.body).toMatchObject({ code: 'invalid_request' })
    }
    expect(users('a31@example.test')).toEqual([])
    expect((await b.client.get('/auth/me')).body).toMatchObject({ user: { email: 'b31@example.test' } })
    expect((await verify(a.client, { token: a.token })).outcome).toBe('a31@example.test')
    expect((await b.client.get('/auth/me')).body).toMatchObject({ user: { email: 'b31@example.test' } })
  })

  test('ATK-034 a planted registration that its victim clicks needs the password that only the planter knows', async () => {
    const plantedRegistration = await register('victim34@example.test', 'chosen by the attacker')
    const victim = server.client()
    const page = await victim.open(plantedRegistration.link.replace(/^https?:\/\/[^/]+/, ''))
    expect([page.status, page.text.includes('type="password"')]).toEqual([200, true])
    expect((await verify(victim, { token: plantedRegistration.token })).outcome).toBe('invalid_request')
    expect((await verify(victim, { token: plantedRegistration.token, password })).outcome).toBe('invalid_credentials')

    const own = await register('victim34@example.test', password, victim)
    expect((await verify(victim, { token: plantedRegistration.token })).outcome).toBe('invalid_request')
    expect((await verify(victim, { email: 'victim34@example.test', code: plantedRegistration.code })).outcome).toBe(
      'invalid_token',
    )
    expect(victim.cookies.get('access-token')).toBeNull()
    expect(users('victim34@example.test')).toEqual([])
    expect((await verify(victim, { token: own.token })).outcome).toBe('victim34@example.test')
    const late = { email: 'victim34@example.test', password: 'chosen by the attacker' }
    expect((await server.client().post('/auth/login', late)).body).toMatchObject({ code: 'invalid_credentials' })
  })

  test('ATK-034 the handle of another registration confirms nothing, by link or by code', async () => {
    const mine = await register('mine34@example.test')
    const other = await register('other34@example.test')
    expect((await verify(other.client, { token: mine.token })).outcome).toBe('invalid_request')
    const byCode = { email: 'mine34@example.test', code: mine.code }
    expect((await verify(other.client, byCode)).outcome).toBe('invalid_token')
    expect((await verify(server.client(), byCode)).outcome).toBe('invalid_token')
    expect((await verify(server.client(), { ...byCode, password: 'wrong wrong' })).outcome).toBe('invalid_token')
    expect((await verify(mine.client, byCode)).outcome).toBe('mine34@example.test')
  })
})

describe('ATK-033 scanners that open every link', () => {
  test('ATK-033 GET and HEAD of the mailed link, any number of times, change nothing and sign nobody in', async () => {
    const { client, token, link } = await register('scan@example.test')
    const path = link.replace(/^https?:\/\/[^/]+/, '')
    const state = () => JSON.stringify(['users', 'one_time_tokens', 'sessions', 'audit', 'outbox'].map(dump))
    const before = state()
    const cookie = client.cookies.header(new URL(link)) ?? ''
    expect(cookie).toMatch(/^registration=/)
    for (let time = 0; time < 5; time += 1) {
      for (const method of ['GET', 'HEAD']) {
        for (const headers of [{}, { cookie }]) {
          for (const more of ['', '&_method=POST', '&confirm=1', `&password=${password}`]) {
            const answer = await server.ask(method, path + more, { headers })
            expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []])
            expect(answer.headers.get('cache-control')).toBe('no-store')
          }
        }
      }
    }
    expect(state()).toBe(before)
    expect((await verify(client, { token })).status).toBe(200)
  })

  function dump(table: string): unknown[] {
    return server.sql(`select * from latchkey_${table} order by id`)
  }

  test('ATK-033 the page loads nothing from elsewhere and gives its address to nobody', async () => {
    const { headers, text } = await server.client().open('/auth/verify-email?token=PLANTED')
    expect(headers.get('referrer-policy')).toMatch(/^(same-origin|no-referrer|strict-origin)$/)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(text).not.toMatch(/<script(?! src="\/auth\/assets\/)|(?:src|href)="(?:https?:)?\/\//i)
  })

  const markup = ['"><script>alert(1)</script>', "'><img src=x onerror=alert(1)>", '{{constructor}}', '\u2028</title>']
  test.each(markup)('ATK-083 %s in the address of the page is shown as text', async (text) => {
    for (const name of ['token', 'email', 'error']) {
      const page = await server.client().open(`/auth/verify-email?${new URLSearchParams({ [name]: text })}`)
      expect(page.status).toBe(200)
      expect(page.text).not.toMatch(/<script(?! src="\/auth\/assets\/)|<img src=x|<\/title>.*<\/title>/is)
    }
  })
})

describe('ATK-041 secrets of one kind in the place of another', () => {
  test('ATK-041 neither code, handle, id nor token of a session is a link token', async () => {
    const { client, code } = await register('kinds@example.test')
    const other = server.client()
    await other.signUp({ email: 'signed-in@example.test', password })
    const { access, refresh } = heldTokens(other)
    const [row] = server.sql<Record<string, string>>(
      'select id, token_hash, code_hash, handle_hash from latchkey_one_time_tokens where email = ?',
      'kinds@example.test',
    )
    const handle = client.cookies.get('registration')
    for (const secret of [code, handle, access, refresh, ...Object.values(row ?? {})]) {
      expect(['invalid_token', 'invalid_request']).toContain((await verify(client, { token: secret })).outcome)
      const asHandle = server.client({ headers: { cookie: `registration=${secret}` } })
      if (secret !== handle)
        expect((await verify(asHandle, { email: 'kinds@example.test', code })).outcome).toBe('invalid_token')
    }
    expect(Object.values(row ?? {})).toHaveLength(4)
  })

  test('ATK-041 a link token is no access token, no refresh token and no code', async () => {
    const { client, token, code } = await register('reverse@example.test')
    expectRefusal(await server.ask('GET', '/api/secret', { headers: { authorization: `Bearer ${token}` } }), 401)
    const refresh = { headers: { 'x-auth-mode': 'token' }, body: { refreshToken: token } }
    expectRefusal(await server.ask('POST', '/auth/refresh', refresh), 401)
    expect((await verify(client, { email: 'reverse@example.test', code: token })).outcome).toBe('invalid_request')
    expect((await verify(client, { email: token, code })).outcome).toBe('invalid_request')
  })

  test('ATK-041 a token of another installation is unknown here', async () => {
    const client = hasty.client()
    await client.post('/auth/register', { email: 'elsewhere@example.test', password })
    const mail = await hasty.mailbox.waitFor('elsewhere@example.test')
    expect((await verify(server.client(), { token: hasty.mailbox.token(mail), password })).outcome).toBe(
      'invalid_token',
    )
    // Where it was made, it is of the other purpose: it confirms an account that exists.
    const answer = await client.post('/auth/verify-email', { token: hasty.mailbox.token(mail) })
    expect(answer.body).toMatchObject({ user: { emailVerified: true } })
  })
})

describe('ATK-008 one answer for everything that is wrong with a token', () => {
  test('ATK-008 unknown, used, replaced, foreign and expired look alike', async () => {
    const used = await register('used@example.test')
    await verify(used.client, { token: used.token })
    const replaced = await register('replaced@example.test')
    await replaced.client.post('/auth/verify-email/resend', { email: 'replaced@example.test' })
    await server.mailbox.waitFor('replaced@example.test')
    const expired = await register('expired@example.test')
    await server.runtime.clock.advance('25h')

    const proofs = [
      used.token,
      replaced.token,
      expired.token,
      'x',
      'x'.repeat(43),
      `${used.token.slice(1)}A`,
      '../..',
      '%00',
    ]
    const answers = await Promise.all(proofs.map((token) => verify(used.client, { token, password })))
    const codes: typeof answers = []
    for (const { email, code } of [
      { email: 'used@example.test', code: used.code },
      { email: 'expired@example.test', code: expired.code },
      { email: 'nobody@example.test', code: '123456' },
    ]) {
      codes.push(await verify(expired.client, { email, code }))
    }
    for (const kind of [answers, codes])
      for (const { status, body } of kind) expect([status, { ...body, requestId: '' }]).toEqual([400, alike(kind[0])])
  })

  function alike(answer: { body: object } | undefined): object {
    expect(answer?.body).toMatchObject({ code: 'invalid_token' })
    return { ...answer?.body, requestId: '' }
  }
})

describe('races', () => {
  test.each(['token', 'code', 'both'])(
    'ATK-025 of 20 confirmations at once by %s one succeeds, with one session',
    async (by) => {
      const email = `race-${by}@example.test`
      const { client, token, code } = await register(email)
      const byCode = { email, code }
      const proofs = Array.from({ length: 20 }, (_, index) => {
        if (by === 'both') return index % 2 ? { token } : byCode
        return by === 'token' ? { token } : byCode
      })
      const copies = proofs.map((proof) => verify(client.copy(), proof))
      const outcomes = (await Promise.all(copies)).map(({ outcome }) => outcome)
      expect(outcomes.filter((outcome) => outcome === email)).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'invalid_token')).toHaveLength(19)
      expect([users(email).length, sessions(email)]).toEqual([1, 1])
    },
  )

  test('ATK-025 of three registrations confirmed at once one makes the account, with its own password', async () => {
    const email = 'three@example.test'
    const three = await Promise.all(['first secret 1', 'second secret 2', 'third secret 3'].map((own) => enter(own)))
    async function enter(own: string) {
      const client = server.client()
      await client.post('/auth/register', { email, password: own })
      return { client, own, handle: client.cookies.get('registration') }
    }
    const tokens = await Promise.all(three.map(async () => server.mailbox.token(await server.mailbox.waitFor(email))))
    const tries = three.flatMap(({ client, own }) =>
      tokens.map((token) => verify(client.copy(), { token, password: own })),
    )
    const outcomes = (await Promise.all(tries)).map(({ outcome }) => outcome)
    expect(outcomes.filter((outcome) => outcome === email)).toHaveLength(1)
    expect([users(email).length, sessions(email)]).toEqual([1, 1])
    const logins = await Promise.all(
      three.map(({ own }) => server.client().post('/auth/login', { email, password: own })),
    )
    expect(logins.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})
