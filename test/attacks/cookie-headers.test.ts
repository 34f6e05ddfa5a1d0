import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, ada, attackServer, expectRefusal } from '../support/attack-server.js'
import { readVectors } from '../support/vectors.js'

const origin = 'https://app.example.test'
const server = await attackServer({ settings: { baseUrl: origin } })
/** An owner who lets headers of a mebibyte in. */
const generous = await attackServer({ server: { maxHeaderSize: 1 << 20 } })
afterAll(() => Promise.all([server.close(), generous.close()]))
beforeEach(() => {
  server.calls.length = 0
})

const alice = await signUp('alice@example.test')
const eve = await signUp('eve@example.test')

async function signUp(email: string) {
  const client = server.clientAt(origin)
  const { body } = await client.signUp({ ...ada, email })
  const access = client.cookies.get('__Host-access-token') ?? ''
  return { id: body.user.id, access, refresh: client.cookies.get('__Secure-refresh-token') ?? '', client }
}

interface CookieCase {
  id: string
  cookie_header: string | string[]
  expect: string
}
const { cookie_header_cases: cases } = readVectors<{ cookie_header_cases: CookieCase[] }>('cookies')

/** Where the vector leaves a choice; all others are "none" or "GOOD". */
const decided = new Map<string, 'alice' | 'eve' | 'nobody'>([
  ['dup-same-name-2', 'nobody'], // product.md 6: one cookie name twice is no credential
  ['legacy-version', 'eve'], // `$Version` is a cookie like any other, and then there is one token
  ['quoted', 'nobody'], // quotes are a part of the value
  ['percent', 'nobody'], // values are never decoded
  ['many', 'nobody'],
  ['value-with-equals', 'nobody'], // the whole value is `a=b=c`, which is no token
])

/** The case with our names and with real tokens: EVIL is a sound one of somebody else. */
function linesOf({ id, cookie_header }: CookieCase): string[] {
  if (id === 'many') return [`Cookie: ${Array.from({ length: 2_000 }, () => 'a=1').join('; ')}`]
  const encoded = alice.access.replace(/^e/, '%65')
  return [cookie_header].flat().map((header) => {
    const named = header.replaceAll(/(?<![a-z])at(?==|$)/g, 'access-token')
    const filled = named.replace('GO%4FD', encoded).replaceAll('GOOD', alice.access).replaceAll('EVIL', eve.access)
    return `Cookie: ${filled}`
  })
}

/** Headers have no charset: browsers send UTF-8, others Latin-1. */
const charsets = ['utf8', 'latin1'] as const

async function ask(lines: readonly string[], path: string, charset: BufferEncoding): Promise<Answer> {
  return server.raw(Buffer.from([`GET ${path} HTTP/1.1`, 'Host: x', ...lines, '', ''].join('\r\n'), charset))
}

describe('ATK-081 Cookie headers', () => {
  test('ATK-081 the vectors and their decisions are all there', () => {
    expect(cases).toHaveLength(26)
    expect([...decided.keys()].filter((id) => !cases.some((one) => one.id === id))).toEqual([])
  })

  test.each(cases)('ATK-081 $id ends as stated ($expect)', async (one) => {
    const holder = decided.get(one.id) ?? (one.expect === 'GOOD' ? 'alice' : 'nobody')
    for (const charset of charsets) {
      server.calls.length = 0
      for (const path of ['/api/secret', '/auth/me']) {
        const answer = await ask(linesOf(one), path, charset)
        if (holder === 'nobody') expectRefusal(answer, 401)
        else expect([answer.status, answer.text.includes(holder === 'alice' ? alice.id : eve.id)]).toEqual([200, true])
      }
      expect(server.calls).toHaveLength(holder === 'nobody' ? 0 : 1)
    }
  })

  const blanks = [...'\u0085\u00a0\u1680\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff\u000b\u000c']
  test.each(blanks.map((blank) => ({ blank, code: blank.codePointAt(0)?.toString(16) })))(
    'ATK-081 a U+$code before or after the name makes it another name',
    async ({ blank }) => {
      for (const pair of [`${blank}__Host-access-token=${eve.access}`, `__Host-access-token${blank}=${eve.access}`]) {
        for (const charset of charsets)
          expectRefusal(await ask([`Cookie: a=b; ${pair}`], '/api/secret', charset), 400, 401)
      }
      expect(server.calls).toEqual([])
    },
  )

  test.each([
    ['5,000 pairs', Array.from({ length: 5_000 }, (_, index) => `c${index}=1`).join('; ')],
    ['5,000 pairs of one name', Array.from({ length: 5_000 }, () => 'access-token=x').join('; ')],
    ['64 kB of semicolons', ';'.repeat(65_536)],
    ['64 kB of blanks before a name', `a=b;${' '.repeat(65_536)}access-token=x`],
    ['64 kB of names that begin like ours', 'access-token;'.repeat(5_042)],
    ['one cookie of 64 kB', `access-token=${'x'.repeat(65_536)}`],
  ])('ATK-077 %s is refused by node, and by us where node lets it in', async (_what, value) => {
    const bytes = `GET /api/secret HTTP/1.1\r\nHost: x\r\nCookie: ${value}\r\n\r\n`
    expectRefusal(await server.raw(bytes), 431)
    expectRefusal(await generous.raw(bytes), 401)
    const refresh = `POST /auth/refresh HTTP/1.1\r\nHost: x\r\nOrigin: ${generous.url}\r\nContent-Length: 0\r\n`
    expectRefusal(await generous.raw(`${refresh}Cookie: ${value.replaceAll('access', 'refresh')}\r\n\r\n`), 401)
    expect([...server.calls, ...generous.calls]).toEqual([])
  })
})

describe('ATK-081 planted cookies', () => {
  function send(path: string, cookie: string, method = 'GET'): Promise<Answer> {
    return server.ask(method, path, { headers: { cookie, origin } })
  }

  test('ATK-081 login-csrf-toss: a planted refresh cookie beside the real one changes nobody, and refreshes nobody', async () => {
    const plantedCookies = `__Secure-refresh-token=${eve.refresh}; __Secure-refresh-token=${alice.refresh}`
    const shown = await send('/auth/me', `__Host-access-token=${alice.access}; ${plantedCookies}`)
    expect(shown.body).toMatchObject({ user: { id: alice.id } })
    expectRefusal(await send('/auth/refresh', plantedCookies, 'POST'), 401)
    expectRefusal(await send('/auth/refresh', `refresh-token=${eve.refresh}`, 'POST'), 401)
    expectRefusal(await send('/auth/refresh', `__Host-refresh-token=${eve.refresh}`, 'POST'), 401)
  })

  test('ATK-081 eviction: without its cookies a browser is signed out, and nothing worse', async () => {
    const rest = Array.from({ length: 180 }, (_, index) => `sibling${index}=x`).join('; ')
    expectRefusal(await send('/api/secret', rest), 401)
    expectRefusal(await send('/auth/refresh', rest, 'POST'), 401)
    expect((await send('/auth/logout', rest, 'POST')).status).toBe(204)
    expect((await send('/api/secret', `__Host-access-token=${alice.access}`)).status).toBe(200)
  })

  test('ATK-081 path-shadow: a cookie of the same name with a longer path makes both worthless', async () => {
    expectRefusal(await send('/auth/me', `__Host-access-token=${eve.access}; __Host-access-token=${alice.access}`), 401)
  })

  test('ATK-073 session-fixation: a planted session gains nothing by the sign-in of its victim, and ends', async () => {
    const { client: attacker } = await signUp('mallory@example.test')
    const victim = attacker.copy()
    const { body } = await victim.signIn({ ...ada, email: 'alice@example.test' })
    expect(body.user.id).toBe(alice.id)
    expect((await attacker.get('/api/secret')).status).toBe(401)
    expect((await attacker.refresh()).status).toBe(401)
    expect((await victim.get('/auth/me')).body).toMatchObject({
      user: { id: alice.id },
      session: { id: body.session.id },
    })
  })
})
