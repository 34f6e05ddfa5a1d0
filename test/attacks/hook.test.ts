import { describe, expect, onTestFinished, test } from 'vitest'
import { init, type LatchkeySettings } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { testAuth } from '../support/auth.js'
import { hostCodehooks, loadCodehooks } from '../support/codehooks-host.js'
import { failingDatabase } from '../support/failing-database.js'

type Hook = NonNullable<LatchkeySettings['authenticate']>

/** What JavaScript lets a hook answer. */
function answering(answer: unknown): Hook {
  const hook: unknown = () => answer
  if (typeof hook !== 'function') throw new TypeError('no hook')
  return (request) => hook(request)
}

const ada = { kind: 'hook', subject: 'ada', claims: { team: { name: 'engines' } } } as const

async function asked(authenticate: Hook, path = '/api/x', headers: Record<string, string> = {}) {
  const app = await testAuth({ authenticate })
  const answer = await app.client({ as: 'server' }).get<{ code?: string }>(path, { headers })
  return { ...app, answer, status: answer.status, code: answer.body.code }
}

describe('ATK-106 the authenticate hook', () => {
  test('ATK-106 a principal of its own lets in, at once or by a promise, frozen and a copy', async () => {
    for (const authenticate of [() => ada, async () => ada]) {
      const { status, passed } = await asked(authenticate)
      expect(status).toBe(200)
      const { principal } = passed[0] ?? {}
      expect(principal).toEqual(ada)
      if (principal?.kind !== 'hook') throw new Error('of another kind')
      expect([principal, principal.claims, principal.claims.team].every(Object.isFrozen)).toBe(true)
      expect(principal.claims.team).not.toBe(ada.claims.team)
    }
  })

  class Team {}
  const loop: Record<string, unknown> = {}
  loop.self = loop
  test.each([
    ['false', false],
    ['true', true],
    ['null', null],
    ['"false"', 'false'],
    ['0', 0],
    ['an empty object', {}],
    ['a list', [ada]],
    ['a principal without subject', { kind: 'hook' }],
    ['a principal with an empty subject', { kind: 'hook', subject: '' }],
    ['a principal with a number as subject', { kind: 'hook', subject: 1 }],
    ['a session', { kind: 'session', userId: 'u', sessionId: 's', subject: 'u', roles: ['ADMIN'] }],
    ['an API token', { kind: 'apiToken', subject: 'x', access: 'READWRITE' }],
    ['claims that are no object', { ...ada, claims: 'all' }],
    ['claims with a function', { ...ada, claims: { run: () => {} } }],
    ['claims with an instance', { ...ada, claims: { team: new Team() } }],
    ['claims that hold themselves', { ...ada, claims: loop }],
    [
      'a getter that throws',
      {
        kind: 'hook',
        get subject(): string {
          throw new Error('no')
        },
      },
    ],
  ])('ATK-106 %s is 403', async (_what, answer) => {
    for (const given of [answer, Promise.resolve(answer)]) {
      const { status, code, passed } = await asked(answering(given))
      expect([status, code]).toEqual([403, 'forbidden'])
      expect(passed).toEqual([])
    }
  })

  test.each<[string, Hook]>([
    [
      'throws',
      () => {
        throw new TypeError('secret-cause')
      },
    ],
    [
      'rejects',
      async () => {
        throw new TypeError('secret-cause')
      },
    ],
    ['rejects with undefined', () => Promise.reject(undefined)],
  ])('ATK-106 one that %s is 503 and tells nobody why', async (_what, authenticate) => {
    const { status, code, answer, passed } = await asked(authenticate)
    expect([status, code]).toEqual([503, 'hook_failed'])
    expect(answer.text + JSON.stringify([...answer.headers])).not.toContain('secret-cause')
    expect(passed).toEqual([])
  })

  test('ATK-106 one that never answers is 503 after 5 s, whatever it says later', async () => {
    let answerNow = (_answer: typeof ada) => {}
    const app = await testAuth({
      authenticate: () =>
        new Promise<typeof ada>((resolve) => {
          answerNow = resolve
        }),
    })
    const answer = app.client({ as: 'server' }).get('/api/x')
    await app.runtime.clock.advance('4s')
    await app.runtime.clock.advance('1s')
    expect(await answer).toMatchObject({ status: 503, body: { code: 'hook_failed' } })
    answerNow(ada)
    await app.runtime.clock.advance('1s')
    expect(app.passed).toEqual([])
  })

  test('ATK-106 no opinion goes on to the credentials, and a refusal is not outvoted by a session', async () => {
    const app = await testAuth({ authenticate: ({ headers }) => (headers['x-bad'] ? false : undefined) })
    const browser = app.client()
    await browser.signUp({ email: 'ada@example.test', password: 'correct horse battery' })
    expect((await browser.get('/api/x')).status).toBe(200)
    expect((await browser.get('/api/x', { headers: { 'x-bad': '1' } })).status).toBe(403)
    expect((await app.client({ as: 'server' }).get('/api/x')).status).toBe(401)
    expect((await browser.get('/auth/me', { headers: { 'x-bad': '1' } })).status).toBe(200)
  })

  test('ATK-106 when it has waited until the news is stale, no credential is judged by what was known before', async () => {
    const database = failingDatabase()
    let answerNow = () => {}
    let waits = false
    const app = await testAuth({
      database: database.dialect,
      revocation: { staleness: '2s' },
      authenticate: () =>
        waits ? new Promise<undefined>((resolve) => (answerNow = () => resolve(undefined))) : undefined,
    })
    const browser = app.client()
    await browser.signUp({ email: 'ada@example.test', password: 'correct horse battery' })
    waits = true
    const waited = async (fails: RegExp | null) => {
      const answer = browser.get('/api/x')
      database.failOn(fails)
      await app.runtime.clock.advance('3s')
      answerNow()
      return answer
    }
    expect(await waited(/from "latchkey_changes"/)).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
    expect((await waited(null)).status).toBe(200)
  })

  test('ATK-106 it is asked after the allow-list and the origin rule', async () => {
    let calls = 0
    const authenticate = () => {
      calls += 1
      return ada
    }
    const app = await testAuth({ authenticate, allowList: ['192.0.2.1'] })
    expect((await app.client({ as: 'server', ip: '192.0.2.2' }).get('/api/x')).status).toBe(403)
    const headers = { origin: 'https://evil.example' }
    expect((await app.client({ as: 'server', ip: '192.0.2.1' }).post('/api/x', {}, { headers })).status).toBe(403)
    expect(calls).toBe(0)
    expect((await app.client({ as: 'server', ip: '192.0.2.1' }).get('/api/x')).status).toBe(200)
  })

  test('ATK-106 what it does to the request it was shown changes nothing', async () => {
    const app = await testAuth({
      authenticate(request) {
        Object.assign(request, { method: 'GET', ip: '10.0.0.1' })
        Object.assign(request.headers, { authorization: 'Bearer x', cookie: 'access-token=x' })
        return undefined
      },
    })
    const browser = app.client()
    await browser.signUp({ email: 'ada@example.test', password: 'correct horse battery' })
    expect((await browser.get('/api/x')).status).toBe(200)
    expect(app.passed[0]?.request.headers.get('authorization')).toBeNull()
  })

  test('ATK-106 it sees neither an API token in the query nor headers by which a client claims to be somebody', async () => {
    const seen: unknown[] = []
    const authenticate: Hook = ({ path, query, headers, ip, method }) => {
      const { 'x-real-ip': real, 'x-user': user, 'x-forwarded-for': chain, 'x-mine': mine } = headers
      seen.push({ method, path, query, ip, claimed: [real, user, chain], mine })
      return ada
    }
    const headers = { 'x-real-ip': '10.0.0.1', 'x-user': 'root', 'x-forwarded-for': '10.0.0.1', 'x-mine': 'kept' }
    await asked(authenticate, '/api/%78?a=1&apikey=secret&b=2', headers)
    expect(seen).toEqual([
      {
        method: 'GET',
        path: '/api/x',
        query: 'a=1&b=2',
        ip: '127.0.0.1',
        claimed: [undefined, undefined, undefined],
        mine: 'kept',
      },
    ])
  })

  test.each([
    '/api//open',
    '/api/open%2F..%2Fadmin',
    '/api/open;x/admin',
    '/api/open%5cadmin',
    '/api/open%00',
    '/api/%2561dmin',
    '/api/%ff',
  ])('ATK-106 it is not asked about %s, which readers read differently', async (path) => {
    let calls = 0
    const { status, passed } = await asked(() => {
      calls += 1
      return ada
    }, path)
    expect([status, calls, passed]).toEqual([403, 0, []])
  })
})

describe('ATK-106 entries of app.auth in a codehooks-js application', () => {
  type Entry = Parameters<Awaited<ReturnType<typeof loadCodehooks>>['app']['auth']>[1]
  const entries: Record<string, Entry> = {
    '/api/webhook/*': (_req, _res, next) => next(),
    '/api/late/:id': (_req, _res, next) => void setTimeout(next, 5),
    '/api/no': (_req, res) => void res.status(418).json({ mine: true }),
    '/api/no-later': async (_req, res) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      res.status(418)
      res.end('mine')
    },
    '/api/fault': (_req, _res, next) => next('Token lifetime exceeded!'),
    '/api/throws': () => {
      throw new TypeError('secret-cause')
    },
    '/api/rejects': () => Promise.reject(new TypeError('secret-cause')),
    '/api/silent': () => {},
    '/api/*': (_req, _res, next) => next(),
    '/*': (_req, _res, next) => next(),
  }

  async function hosted(before: boolean) {
    const { app } = await loadCodehooks()
    const served: [string, unknown][] = []
    const register = () => {
      for (const [pattern, hook] of Object.entries(entries)) app.auth(pattern, hook)
      app.static({ route: '/', directory: '/web', notFound: '/404.html' })
    }
    app.all('/api/*', (req, res) => {
      served.push([req.apiPath, req.auth])
      res.end('served')
    })
    if (before) register()
    const runtime = createTestRuntime()
    const auth = init(app, testSettings({ logger: { warn: () => {}, error: () => {} } }), runtime)
    if (!before) register()
    await auth.ready()
    const running = await hostCodehooks(app.init(), {})
    onTestFinished(async () => {
      await running.close()
      await auth.close()
    })
    const ask = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${running.port}/dev${path}`)
      return [answer.status, await answer.text()] as const
    }
    return { served, ask, runtime }
  }

  test.each([true, false])(
    'ATK-106 next() allows, whatever else they do refuses; registered before init: %s',
    async (before) => {
      const { served, ask, runtime } = await hosted(before)
      expect((await ask('/api/webhook/github'))[0]).toBe(200)
      expect((await ask('/api/LATE/7/'))[0]).toBe(200)
      const principals = ['/api/webhook/*', '/api/late/:id'].map((subject) => ({ kind: 'hook', subject, claims: {} }))
      expect(served.map(([, principal]) => principal)).toEqual(principals)
      served.length = 0

      expect(await ask('/api/no')).toEqual([418, '{"mine":true}'])
      expect(await ask('/api/no-later')).toEqual([418, 'mine'])
      expect((await ask('/api/fault'))[0]).toBe(403)
      for (const path of ['/api/throws', '/api/rejects']) {
        const [status, text] = await ask(path)
        expect(status).toBe(503)
        expect(text).not.toContain('secret-cause')
      }
      const silent = ask('/api/silent')
      await new Promise((resolve) => setTimeout(resolve, 50))
      await runtime.clock.advance('5s')
      expect((await silent)[0]).toBe(503)
      expect(served).toEqual([])
    },
  )

  test.each(['/api', '/api/notes', '/api/userinfo.json', '/api/webhook', '/api/webhookx/a', '/api/late/7/8'])(
    'ATK-106 %s is left to the guard: entries at or above the prefix and static files say nothing about it',
    async (path) => {
      const { served, ask } = await hosted(true)
      expect((await ask(path))[0]).toBe(401)
      expect(served).toEqual([])
    },
  )

  test.each(['/api/webhook/%2e%2e%2fnotes', '/api/webhook/..%2fnotes', '/api//webhook/x'])(
    'ATK-106 %s is no way around',
    async (path) => {
      const { served, ask } = await hosted(true)
      expect((await ask(path))[0]).toBeGreaterThanOrEqual(400)
      expect(served).toEqual([])
    },
  )

  test('ATK-106 where an entry has answered, nothing more is written', async () => {
    const { app } = await loadCodehooks()
    app.auth('/api/no', (_req, res) => {
      res.status(418)
      res.end('mine')
    })
    const auth = init(app, testSettings(), createTestRuntime())
    onTestFinished(() => auth.close())
    await auth.ready()
    const written: unknown[] = []
    const res = { status: (code: number) => written.push(code), end: (text: string) => written.push(text) }
    const req = { method: 'GET', headers: {}, apiPath: '/api/no', originalUrl: '/dev/api/no' }
    await Reflect.get(app, 'auths')['/api/*'][0](req, res, expect.unreachable)
    expect(written).toEqual([418, 'mine'])
  })
})
