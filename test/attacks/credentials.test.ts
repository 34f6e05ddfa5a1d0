import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ada, attackServer, expectRefusal, heldTokens } from '../support/attack-server.js'
import { readVectors } from '../support/vectors.js'

const server = await attackServer()
afterAll(() => server.close())
beforeEach(() => {
  server.calls.length = 0
})

interface Holder {
  id: string
  access: string
  refresh: string
}
let alice: Holder
let bob: Holder
beforeAll(async () => {
  alice = await signUp('alice@example.test')
  bob = await signUp('bob@example.test')
})

async function signUp(email: string): Promise<Holder> {
  const client = server.client()
  const { body } = await client.signUp({ ...ada, email })
  return { id: body.user.id, ...heldTokens(client) }
}

/** A request with these header lines, as they are. */
function ask(lines: readonly string[], start = 'GET /api/secret') {
  return server.raw([`${start} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, '', ''].join('\r\n'))
}

function callers(): (string | undefined)[] {
  return server.calls.map(({ principal }) => (principal?.kind === 'session' ? principal.userId : undefined))
}

describe('ATK-077 the Authorization header', () => {
  interface HeaderCase {
    value: string
    expect: string
  }
  const { authorization_header_cases: cases } = readVectors<{ authorization_header_cases: HeaderCase[] }>('jwt-attacks')
  const ours: HeaderCase[] = ['bearer {T}', 'BEARER {T}'].map((value) => ({ value, expect: 'accept' }))
  const more = [
    'Bearer\t{T}',
    'Bearer {T} ',
    'Bearer {T} x',
    'Bearer "{T}"',
    'Bearer={T}',
    'Bearer, Bearer {T}',
    'B {T}',
  ]
    // Blanks at the end belong to the header (RFC 9110 §5.5): node takes them off.
    .map((value) => ({ value, expect: value.endsWith(' ') ? 'accept' : 'reject' }))
  const all = [...cases, ...ours, ...more]

  test('ATK-077 the vectors are all there', () => expect(cases).toHaveLength(16))

  // "policy" is two blanks: we take one, as product.md 6 lets exactly one spelling decide.
  test.each(all)('ATK-077 "$value" ends as stated ($expect)', async ({ value, expect: wanted }) => {
    const line = `Authorization: ${value.replaceAll('{T}', alice.access)}`
    for (const start of ['GET /api/secret', 'GET /auth/me']) {
      const answer = await ask([line], start)
      if (wanted === 'accept') expect(answer.status).toBe(200)
      else expectRefusal(answer, 400, 401)
    }
    expect(callers()).toEqual(wanted === 'accept' ? [alice.id] : [])
  })

  const bearers = all.filter(({ value, expect: wanted }) => /^bearer( |$)/i.test(value) && wanted !== 'accept')
  test.each(bearers)('ATK-077 "$value" never falls through to the cookie beside it', async ({ value }) => {
    const bearer = `Authorization: ${value.replaceAll('{T}', alice.access)}`
    expectRefusal(await ask([bearer, `Cookie: access-token=${bob.access}`]), 400, 401)
    expect(server.calls).toEqual([])
  })

  test.each(['POST /auth/refresh', 'POST /auth/logout', 'POST /auth/login', 'DELETE /auth/sessions', 'PATCH /auth/me'])(
    'ATK-077 no value of the header breaks %s',
    async (start) => {
      for (const { value } of cases) {
        const answer = await ask([`Authorization: ${value.replaceAll('{T}', 'x.y.z')}`, 'Content-Length: 0'], start)
        if (answer.status !== 204) expectRefusal(answer)
      }
    },
  )
})

describe('ATK-077 several credentials in one request', () => {
  test('ATK-077 the bearer token decides over the cookie, whole, and identities are not mixed', async () => {
    const both = [`Authorization: Bearer ${alice.access}`, `Cookie: access-token=${bob.access}`]
    expect((await ask(both)).status).toBe(200)
    expect((await ask(both.toReversed())).status).toBe(200)
    expect(callers()).toEqual([alice.id, alice.id])
    const me = await ask(both, 'GET /auth/me')
    expect(me.body).toMatchObject({ user: { id: alice.id, email: 'alice@example.test' } })
  })

  const headerPairs = [
    ['Bearer {A}', 'Bearer {B}'],
    ['Bearer {A}', 'Bearer {A}'],
    ['Bearer {A}', 'Bearer x'],
    ['Bearer x', 'Bearer {A}'],
    ['Basic eDp5', 'Bearer {A}'],
    ['Bearer {A}', 'Basic eDp5'],
    ['', 'Bearer {A}'],
  ]
  test.each(headerPairs)(
    'ATK-077 two Authorization headers, "%s" and "%s", are no credential',
    async (first, second) => {
      const lines = [first, second].map((value) => `Authorization: ${fill(value)}`)
      expectRefusal(await ask(lines), 400, 401)
      expectRefusal(await ask([...lines, `Cookie: access-token=${bob.access}`]), 400, 401)
      expectRefusal(await ask(lines, 'GET /auth/me'), 400, 401)
      expect(server.calls).toEqual([])
    },
  )

  const cookies = [
    'access-token={A}; access-token=BAD',
    'access-token=BAD; access-token={A}',
    'access-token={A}; access-token={B}',
    'access-token={A}; access-token={A}',
    'access-token={A}; access-token=',
    'access-token=; access-token={A}',
  ]
  test.each(cookies)('ATK-077 one cookie name twice, "%s", is no credential', async (value) => {
    expectRefusal(await ask([`Cookie: ${fill(value)}`]), 401)
    expectRefusal(
      await ask(
        fill(value)
          .split('; ')
          .map((pair) => `Cookie: ${pair}`),
      ),
      401,
    )
    expect(server.calls).toEqual([])
  })

  test.each(['apikey=GOOD&apikey=BAD', 'apikey=BAD&apikey=GOOD', 'apikey[]=GOOD', 'apikey[$ne]=x', 'apikey='])(
    'ATK-100 nothing about ?%s gets anybody in',
    async (query) => {
      expectRefusal(await ask([], `GET /api/secret?${query}`), 400, 401)
      expectRefusal(await ask(['x-apikey: x'], `GET /api/secret?${query}`), 400, 401)
      expect(server.calls).toEqual([])
    },
  )

  test('ATK-077 an access token is good for many requests at once', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask([`Authorization: Bearer ${alice.access}`])))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(server.calls).toHaveLength(100)
  })

  function fill(value: string): string {
    return value.replaceAll('{A}', alice.access).replaceAll('{B}', bob.access)
  }
})
