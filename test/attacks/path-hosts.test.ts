import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createAuth, init } from '../../src/index.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../src/testing.js'
import { ada, heldTokens } from '../support/attack-server.js'
import { type Hook, hostCodehooks, loadCodehooks } from '../support/codehooks-host.js'
import { rawRequest } from '../support/raw-http.js'
import { meansApi, openAfterAll, pathCases, publicPaths } from './path-cases.js'

const quiet = { warn: () => {}, error: () => {} }
const closed = pathCases.filter((one) => one.expect === 'never-unauthenticated' && one.target !== openAfterAll)

describe('the Fetch API', async () => {
  const origin = 'http://127.0.0.1:3000'
  const mailbox = createTestMailbox()
  const auth = createAuth(testSettings({ mailbox, baseUrl: origin, logger: quiet }), createTestRuntime())
  afterAll(() => auth.close())
  await auth.ready()
  const client = createTestClient(auth, { mailbox, baseUrl: origin })
  await client.signUp(ada)

  /** What passed, as a router of that world reads it. */
  const passed: string[] = []
  beforeEach(() => {
    passed.length = 0
  })
  function ask(method: string, url: string, headers: Record<string, string> = {}): Promise<Response> {
    const next = (request: Request) => {
      passed.push(request.url)
      return Response.json({ served: request.url })
    }
    return auth.fetch(new Request(url, { method, headers }), { ip: '127.0.0.1', next })
  }
  const urlOf = (target: string) => (target.startsWith('http') ? target : `${origin}${target}`)
  /** `Request` knows no CONNECT and no TRACE, and `*` and `\` are no beginning of a path. */
  const expressible = ({ method, target }: { method: string; target: string }) =>
    !['CONNECT', 'TRACE'].includes(method) && URL.canParse(urlOf(target)) && !/^[*\\]/.test(target)

  test('ATK-097 whoever may, passes', async () => {
    const { access } = heldTokens(client)
    expect((await ask('GET', `${origin}/api/secret`, { authorization: `Bearer ${access}` })).status).toBe(200)
    expect(passed).toHaveLength(1)
    expect(closed.filter(expressible).length).toBeGreaterThan(60)
  })

  test.each(closed.filter(expressible))('ATK-097 $method $target opens nothing ($why)', async ({ method, target }) => {
    // `/api/secret/../../open` and the like are other paths by the time there is a URL.
    const response = await ask(method, urlOf(target))
    expect(passed.filter((url) => meansApi(url.slice(new URL(url).origin.length)))).toEqual([])
    if (passed.length === 0) expect([400, 401, 403, 404, 405]).toContain(response.status)
  })

  test.each(publicPaths)('ATK-097 %s stays open', async (path) => {
    expect((await ask('GET', `${origin}${path}`)).status).toBe(200)
    expect(passed).toHaveLength(1)
  })
})

describe('a codehooks-js host', async () => {
  const served: string[] = []
  const leak: Hook = (req, res) => {
    served.push(req.originalUrl)
    res.json({ served: req.originalUrl })
  }
  const { app } = await loadCodehooks()
  app.all('/api/secret', leak)
  app.all('/api/*', leak)
  app.all('/api', leak)
  for (const path of publicPaths) {
    app.auth(path, (_req, _res, next) => next())
    app.get(path, leak)
  }
  const mailbox = createTestMailbox()
  const auth = init(app, testSettings({ mailbox, logger: quiet }), createTestRuntime())
  await auth.ready()
  const host = await hostCodehooks(app.init())
  afterAll(async () => {
    await host.close()
    await auth.close()
  })
  beforeEach(() => {
    served.length = 0
  })

  async function ask(method: string, target: string, header = 'X-A: b'): Promise<number | undefined> {
    const head = `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${header}\r\n\r\n`
    return rawRequest(host.port, Buffer.from(head)).then(
      ({ status }) => status,
      () => undefined,
    )
  }

  test('ATK-097 whoever may, reaches the route', async () => {
    const client = createTestClient(`http://127.0.0.1:${host.port}`, { as: 'token', mailbox, basePath: '/dev/auth' })
    await client.signUp(ada)
    expect(await ask('GET', '/dev/api/secret', `Authorization: Bearer ${heldTokens(client).access}`)).toBe(200)
    expect(served).toHaveLength(1)
  })

  // As they stand, and behind the space as `{base_url}/<space>/<route>`.
  const targets = closed.flatMap(({ method, target }) =>
    [target, target.startsWith('/') ? `/dev${target}` : `/dev/${target}`].map((sent) => ({ method, sent })),
  )
  test.each(targets)('ATK-097 $method $sent opens nothing', async ({ method, sent }) => {
    const status = await ask(method, sent)
    if (status !== undefined) expect([400, 401, 403, 404, 405]).toContain(status)
    expect(served).toEqual([])
    expect(host.faults).toEqual([])
  })

  test.each(publicPaths)('ATK-097 %s stays open where the application opens it', async (path) => {
    expect(await ask('GET', `/dev${path}`)).toBe(200)
  })
})
