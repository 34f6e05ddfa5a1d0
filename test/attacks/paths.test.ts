import express5, { type Express, type RequestHandler } from 'express'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, ada, attackServer, express4, heldTokens } from '../support/attack-server.js'
import { meansApi, openAfterAll, overrideCases, pathCases, publicPaths } from './path-cases.js'

const refusals = [400, 401, 403, 404, 405]

describe.each([
  ['Express 5', express5],
  ['Express 4', express4],
])('%s', async (_name, express) => {
  /** What the last middleware was asked for: nobody else had a route for it. */
  const leftOver: string[] = []
  const server = await attackServer({ express, before, after })
  afterAll(() => server.close())
  beforeEach(() => {
    server.calls.length = 0
    leftOver.length = 0
  })
  const client = server.client()
  await client.signUp(ada)
  const { access } = heldTokens(client)

  function before(app: Express, handler: RequestHandler): void {
    app.all('/api/secret', handler)
    app.all('/open', handler)
  }

  function after(app: Express, handler: RequestHandler): void {
    for (const path of publicPaths) app.get(path, handler)
    app.use((req, _res, next) => {
      leftOver.push(req.originalUrl)
      next()
    })
  }

  /** Undefined when the connection is closed without an answer, as node does with CONNECT. */
  function ask(method: string, target: string, lines: readonly string[] = [], body = ''): Promise<Answer | undefined> {
    const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
    const head = [`${method} ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...lines, ...length]
    // Targets go out as the UTF-8 that browsers would send.
    return server.raw(Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)).catch(() => undefined)
  }

  function secretCalls() {
    return server.calls.filter(({ path }) => !path.startsWith('/open'))
  }

  test('ATK-097 whoever may, reaches the handler, so that the counters below count', async () => {
    const answer = await ask('GET', '/api/secret', [`Authorization: Bearer ${access}`])
    expect([answer?.status, secretCalls().length, pathCases.length]).toEqual([200, 1, 85])
  })

  const closed = pathCases.filter((one) => one.expect === 'never-unauthenticated' && one.target !== openAfterAll)
  test.each(closed)('ATK-097 $method $target opens nothing ($why)', async ({ method, target }) => {
    for (const lines of [[], ['Cookie: access-token=x'], ['Origin: https://evil.test']]) {
      const answer = await ask(method, target, lines)
      if (answer) expect(refusals).toContain(answer.status)
      expect(answer?.text ?? '').not.toMatch(/\n\s+at |"served"/)
    }
    expect(server.calls).toEqual([])
    // What falls through to the application's own last middleware is nothing that anybody could take for the API.
    expect(leftOver.filter(meansApi)).toEqual([])
  })

  const open = pathCases.filter((one) => one.expect === 'public' || one.target === openAfterAll)
  test.each(open)('ATK-097 $method $target stays open ($why)', async ({ method, target }) => {
    const answer = await ask(method, target)
    expect(answer?.status).toBe(200)
    expect(server.calls).toMatchObject([{ path: target }])
  })

  const separators = ['/', '/', '/', '/', '//', '\\', '%2f', '%5c']
  const plain = ['api', 'api', 'API', '%61pi', '..', '..', '%2e%2e', '.', '', 'x', 'secret', ';a=b', 'api;a', '%00']
  const segments = [...plain, 'a@b', 'a@b:99999', 'x@api', 'b:99999', 'api#', '#', '?', '?#', 'api.x']
  const targets = fc
    .array(fc.tuple(fc.constantFrom(...separators), fc.constantFrom(...segments)), { minLength: 2, maxLength: 6 })
    .map((parts) => `/${parts.flat().join('').replace(/^\//, '')}`)
    .chain((path) => fc.constantFrom(...Array(9).fill(''), 'http://x', 'http:/', 'ftp://').map((start) => start + path))

  test('ATK-097 no target made of such parts reaches the application if anybody could take it for the API', async () => {
    let guarded = 0
    await fc.assert(
      fc.asyncProperty(targets, async (target) => {
        leftOver.length = 0
        const answer = await ask('GET', target)
        if (answer?.status === 401) guarded += 1
        if (meansApi(target)) expect(leftOver).toEqual([])
      }),
      { numRuns: 2_000 },
    )
    expect(server.calls.filter(({ path }) => meansApi(path))).toEqual([])
    expect(guarded).toBeGreaterThan(300)
  })

  const hosts = ['x/api/secret?', 'x/api/secret#', 'x\\api\\secret?', 'a@b/api/secret?', 'x#/api', 'x?/api']
  test.each(hosts)(
    'ATK-097 a Host of %s, within which an address would begin its path, opens nothing',
    async (host) => {
      const answer = await server.raw(`GET /open HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect(refusals).toContain(answer.status)
      expect([server.calls, leftOver]).toEqual([[], []])
    },
  )

  const methods = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND REPORT PURGE LINK M-SEARCH QUERY'.split(' ')
  test.each(methods)('ATK-097 the method %s opens nothing', async (method) => {
    const answer = await ask(method, '/api/secret')
    expect(refusals).toContain(answer?.status)
    expect(server.calls).toEqual([])
  })

  test('ATK-097 an OPTIONS that is a preflight never reaches a handler', async () => {
    const lines = ['Origin: https://evil.test', 'Access-Control-Request-Method: PUT']
    expect((await ask('OPTIONS', '/api/secret', lines))?.status).toBe(204)
    expect((await ask('OPTIONS', '/api/secret', [...lines, `Authorization: Bearer ${access}`]))?.status).toBe(204)
    expect(server.calls).toEqual([])
  })

  describe('method overrides', () => {
    function parts({ extra, target }: { extra: string; target: string }) {
      if (extra.startsWith('?')) return { target: target + extra, lines: [], body: '' }
      if (!extra.startsWith('body ')) return { target, lines: [extra, 'Connection: Upgrade'], body: '' }
      return { target, lines: ['Content-Type: application/x-www-form-urlencoded'], body: extra.slice(5) }
    }

    test.each(overrideCases)('ATK-097 $method with "$extra" opens nothing', async (one) => {
      const { target, lines, body } = parts(one)
      const answer = await ask(one.method, target, lines, body)
      expect([401, 403]).toContain(answer?.status)
      expect(server.calls).toEqual([])
    })

    test.each(overrideCases)(
      'ATK-099 $method with "$extra" is the method and path that the handler sees',
      async (one) => {
        const { target, lines, body } = parts(one)
        const mine = [...lines, `Authorization: Bearer ${access}`, 'Sec-Fetch-Site: same-origin']
        expect((await ask(one.method, target, mine, body))?.status).toBe(200)
        expect(server.calls).toMatchObject([{ method: one.method, path: target, principal: { kind: 'session' } }])
      },
    )
  })
})
