import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, ada, attackServer, heldTokens } from '../support/attack-server.js'

const trusted = 'https://app.example.test'
const server = await attackServer({
  settings: { trustedOrigins: [trusted, 'https://other.example.test'], publicRoutes: ['/api/open'] },
  before(app, handler) {
    app.all('/api/secret', handler)
    app.all('/api/open', handler)
    app.all('/elsewhere', (_req, res) => void res.set('access-control-allow-origin', 'https://mine.test').end())
  },
})
const closed = await attackServer()
afterAll(() => Promise.all([server.close(), closed.close()]))
beforeEach(() => {
  server.calls.length = 0
})

const app = server.client({ as: 'token' })
await app.signUp(ada)
const authorization = `Bearer ${heldTokens(app).access}`

const strangers = [
  'https://evil.test',
  'null',
  '*',
  `${trusted}.evil.test`,
  trusted.replace('//', '//evil-'),
  trusted.replace('https', 'http'),
  `${trusted}:8443`,
  `${trusted}:443`,
  trusted.toUpperCase(),
  `${trusted}/`,
  `${trusted}, https://evil.test`,
  `${trusted} https://evil.test`,
  'https://app.example.test%60.evil.test',
  'https://appXexample.test',
  'file://',
  '',
]

/** Requests of every kind of answer: ours, the application's, refusals, public ones, preflights. */
const requests: readonly [string, string, string, Record<string, string>?][] = [
  ['what the application answers', 'GET', '/api/secret', { authorization }],
  ['a refusal of the guard', 'GET', '/api/secret'],
  ['a public route', 'GET', '/api/open'],
  ['an answer of ours', 'GET', '/auth/me', { authorization }],
  ['a refusal of ours', 'GET', '/auth/me'],
  ['a page of ours', 'GET', '/auth/verify-email'],
  ['a write', 'POST', '/auth/logout'],
]

function corsOf({ headers }: Answer): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-'))
}

function preflight(path: string, origin: string, asked = 'content-type'): Promise<Answer> {
  const headers = { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': asked }
  return server.ask('OPTIONS', path, { headers })
}

describe('ATK-079 CORS with credentials', () => {
  describe.each(requests)('%s', (_what, method, path, headers) => {
    test.each(strangers)('ATK-079 tells "%s" nothing', async (origin) => {
      const answer = await server.ask(method, path, { headers: { ...headers, origin } })
      expect(corsOf(answer)).toEqual([])
      expect(answer.headers.get('vary')).toMatch(/\borigin\b/i)
    })

    test('ATK-079 echoes a trusted origin exactly, with credentials, and says that it depends on it', async () => {
      const answer = await server.ask(method, path, { headers: { ...headers, origin: trusted } })
      expect(answer.headers.get('access-control-allow-origin')).toBe(trusted)
      expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
      expect(answer.headers.get('vary')).toMatch(/\borigin\b/i)
      expect(answer.headers.get('access-control-expose-headers')).not.toMatch(/\*|set-cookie|authorization/i)
    })
  })

  test.each(['/api/secret', '/api/open', '/auth/login', '/auth/me'])(
    'ATK-079 a preflight of %s lets only the trusted on',
    async (path) => {
      for (const origin of strangers) {
        const answer = await preflight(path, origin)
        expect([answer.status, corsOf(answer)]).toEqual([204, []])
      }
      const answer = await preflight(path, trusted)
      expect(answer.headers.get('access-control-allow-origin')).toBe(trusted)
      expect(answer.headers.get('access-control-allow-methods')).toMatch(/\bPUT\b/)
      for (const value of answer.headers.values()) expect(value).not.toBe('*')
      expect(server.calls).toEqual([])
    },
  )

  test.each(['x-apikey', 'X-ApiKey', 'x-api-key', 'content-type, x-apikey', 'x-apikey,x-trace', 'x-a\u00a0,x-apikey'])(
    'ATK-101 no preflight allows a page to send %s',
    async (asked) => {
      const answer = await preflight('/api/secret', trusted, asked)
      expect(answer.headers.get('access-control-allow-headers')).not.toMatch(/api-?key/i)
      expect(answer.headers.get('access-control-allow-headers')).toMatch(/content-type/i)
    },
  )

  test('ATK-079 what a preflight asks for cannot write headers of its own', async () => {
    const answer = await preflight('/api/secret', trusted, `x-a, x b, ${'x'.repeat(300)}, x-c: d, *, é`)
    expect(answer.headers.get('access-control-allow-headers')?.split(', ')).toEqual(
      expect.not.arrayContaining(['*', 'x b', 'x-c: d']),
    )
    expect(answer.headers.get('access-control-allow-headers')?.length).toBeLessThan(300)
  })

  test('ATK-079 paths that are not ours keep what the application says', async () => {
    const answer = await server.ask('GET', '/elsewhere', { headers: { origin: trusted } })
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://mine.test')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test.each(['/api/secret', '/auth/me', '/auth/login'])(
    'ATK-079 with nobody trusted no answer of %s speaks of CORS',
    async (path) => {
      for (const method of ['GET', 'OPTIONS', 'POST']) {
        for (const origin of [...strangers, trusted, closed.url]) {
          const headers = { origin, 'access-control-request-method': 'POST' }
          expect(corsOf(await closed.ask(method, path, { headers }))).toEqual([])
        }
      }
    },
  )
})
