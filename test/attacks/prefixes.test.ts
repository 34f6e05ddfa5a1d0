import express5, { type Express, type RequestHandler } from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { init, type LatchkeySettings } from '../../src/index.js'
import {
  type AttackOptions,
  type AttackServer,
  ada,
  attackServer,
  express4,
  heldTokens,
} from '../support/attack-server.js'

const frameworks: [string, typeof express5][] = [
  ['Express 5', express5],
  ['Express 4', express4],
]

async function serve(options: AttackOptions): Promise<AttackServer> {
  const server = await attackServer(options)
  onTestFinished(() => server.close())
  return server
}

/** Status without a credential, and whether a handler ran. */
async function ask(server: AttackServer, method: string, path: string): Promise<[number, boolean]> {
  server.calls.length = 0
  const { status } = await server.ask(method, path)
  return [status, server.calls.length > 0]
}

const shut: [number, boolean] = [401, false]
const open: [number, boolean] = [200, true]

describe.each(frameworks)('%s', (_name, express) => {
  /** A route that takes everything, in the framework's own spelling. */
  const everything = express === express5 ? '/{*rest}' : '*'
  const under = express === express5 ? '/{*rest}' : '/*'

  test('ATK-098 the prefix ends at a segment: neighbours stay open, whenever their handlers were registered', async () => {
    const register = (when: string) => (app: Express, handler: RequestHandler) => {
      for (const path of ['/api', `/api/${when}`, `/apiary/${when}`, `/api-docs/${when}`, `/${when}`])
        app.all(path, handler)
    }
    const server = await serve({ express, before: register('before'), after: register('after') })
    for (const path of ['/api', '/api/', '/api?x', '/API', '/api/before', '/api/after', '/Api/After', '/api/none']) {
      for (const method of ['GET', 'POST', 'DELETE'])
        expect([path, await ask(server, method, path)]).toEqual([path, shut])
    }
    for (const when of ['before', 'after']) {
      for (const path of [`/apiary/${when}`, `/api-docs/${when}`, `/${when}`])
        expect(await ask(server, 'GET', path)).toEqual(open)
    }
  })

  test('ATK-098 with several prefixes each is guarded, and nothing between them', async () => {
    const settings: Partial<LatchkeySettings> = { baseAPIRoutes: ['/api', '/v2/data', '/hooks/'] }
    const server = await serve({ express, settings, before: (app, handler) => app.all(everything, handler) })
    for (const path of ['/api/x', '/v2/data', '/v2/data/x', '/hooks', '/hooks/x']) {
      expect([path, await ask(server, 'GET', path)]).toEqual([path, shut])
    }
    for (const path of ['/', '/v2', '/v2/dat', '/v2/database', '/hook', '/x/api']) {
      expect([path, await ask(server, 'GET', path)]).toEqual([path, open])
    }
  })

  test('ATK-098 with the prefix / everything is guarded but the auth routes, and what publicRoutes names', async () => {
    const settings: Partial<LatchkeySettings> = { baseAPIRoutes: '/', publicRoutes: ['/health', '/assets/*'] }
    const server = await serve({ express, settings, before: (app, handler) => app.all(everything, handler) })
    const guarded = [
      '/',
      '/x',
      '/health/',
      '/healthy',
      '/Health',
      '//health',
      '/health/../x',
      '/assets',
      '/assets/../x',
    ]
    for (const path of [
      ...guarded,
      '/assets/%2e%2e/x',
      '/assets//../x',
      '/%68ealth',
      '/authx',
      '/auth',
      '/AUTH/login',
    ]) {
      const [status, ran] = await askRaw(server, 'GET', path)
      expect([path, status, ran]).toEqual([path, 401, false])
    }
    for (const path of ['/health', '/health?x=1', '/assets/', '/assets/a/b.css']) {
      expect([path, await ask(server, 'GET', path)]).toEqual([path, open])
    }
    // Below basePath only the listed routes are exempt.
    expect((await server.ask('POST', '/auth/login', { body: ada })).status).toBe(401)
    expect((await ask(server, 'GET', '/auth/nothing'))[1]).toBe(false)
    expect((await server.client().signUp(ada)).status).toBe(200)
  })

  test('ATK-098 publicRoutes open exact plain paths, or what lies below, for every method, and nothing by tricks', async () => {
    const settings: Partial<LatchkeySettings> = { publicRoutes: ['/api/status', '/api/open/*'] }
    const server = await serve({ express, settings, before: (app, handler) => app.all(`/api${under}`, handler) })
    for (const path of ['/api/status', '/api/open/a', '/api/open/a/b', '/api/open/a?b=../c']) {
      expect([path, await ask(server, 'GET', path)]).toEqual([path, open])
      expect([path, await ask(server, 'POST', path)]).toEqual([path, open])
    }
    const tricks = ['/api/status/', '/api/statusx', '/api/STATUS', '/API/status', '/api/status;x', '/api/status%00']
    const dots = ['/api/open/../secret', '/api/open/%2e%2e/secret', '/api/open/..%2fsecret', '/api/open//../../secret']
    const more = ['/api/open', '/api/./status', '/api//status', '/api/open/..;/secret', '/api/open\\..\\secret']
    for (const path of [...tricks, ...dots, ...more]) {
      expect([path, ...(await askRaw(server, 'GET', path))]).toEqual([path, 401, false])
    }
  })

  test('ATK-098 a wildcard or a parameter in a route of the application reaches around nothing', async () => {
    const server = await serve({
      express,
      before(app, handler) {
        app.all('/:area/secret', handler)
        app.all('/:a/:b/:c', handler)
        app.use('/api', handler)
      },
      after: (app, handler) => app.all(everything, handler),
    })
    const paths = [
      '/api/secret',
      '/%61pi/secret',
      '/API/secret',
      '/api/x/y',
      '/api',
      '/api%2fx',
      '//api/x',
      '/ap%69/x/y',
    ]
    for (const path of paths) expect([path, ...(await askRaw(server, 'GET', path))]).toEqual([path, 401, false])
    for (const path of ['/other/secret', '/a/b/c', '/x']) expect(await ask(server, 'GET', path)).toEqual(open)
  })

  test('ATK-098 below a prefix of a parent the paths count as the application sees them', async () => {
    let child: Express | undefined
    const server = await serve({
      express,
      before(app, handler) {
        child = express()
        child.all('/api/secret', handler)
        child.all('/open', handler)
        app.use('/shop', child)
      },
      install: (_app, settings, runtime) => init(child, settings, runtime),
    })
    expect(await ask(server, 'GET', '/shop/api/secret')).toEqual(shut)
    expect(await ask(server, 'GET', '/SHOP/api/secret')).toEqual(shut)
    for (const path of ['/shop//api/secret', '/shop/%61pi/secret', '/shop/./api/secret', '/shop/x/../api/secret']) {
      expect([path, ...(await askRaw(server, 'GET', path))]).toEqual([path, 401, false])
    }
    expect(await ask(server, 'GET', '/shop/open')).toEqual(open)
    expect((await ask(server, 'GET', '/api/secret'))[1]).toBe(false)

    const client = server.client({ as: 'token', basePath: '/shop/auth' })
    await client.signUp(ada)
    const headers = { authorization: `Bearer ${heldTokens(client).access}` }
    expect((await server.ask('GET', '/shop/api/secret', { headers })).status).toBe(200)
  })
})

async function askRaw(server: AttackServer, method: string, path: string): Promise<[number, boolean]> {
  server.calls.length = 0
  const { status } = await server.raw(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  return [status, server.calls.length > 0]
}
