import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import connectPackage from 'connect'
import { describe, expect, onTestFinished, test } from 'vitest'
import { init, type LatchkeySettings } from '../../../src/index.js'
import { createTestRuntime, testSettings } from '../../../src/testing.js'
import { rawRequest } from '../../support/raw-http.js'

type Served = (req: IncomingMessage, res: ServerResponse) => void

describe('what connect takes for a path below a mount', () => {
  const below = [
    '/api',
    '/api/x',
    '/api.',
    '/api.x',
    '/api./orders',
    '/API.x',
    '/Api./x',
    '/api..',
    '/api./../x',
    '/api.x?a=1',
  ]
  test.each([...below, 'http://other.test/api.x'])('ATK-097 %s is guarded', async (target) => {
    const { ask, served, token } = await serve({}, ['/api'])
    expect([await ask(target), served]).toEqual([401, []])
    expect([await ask(target, `X-Apikey: ${token}`), served.length]).toEqual([200, 1])
  })

  test.each(['/api.health', '/api.open/x', '/api./health', '/api./open/x'])(
    'ATK-098 publicRoutes do not open %s',
    async (target) => {
      const { ask, served } = await serve({ publicRoutes: ['/api/health', '/api/open/*'] }, ['/api'])
      expect([await ask(target), served]).toEqual([401, []])
      expect(await ask('/api/health')).toBe(200)
    },
  )

  test.each([
    '/v2/data.x',
    '/v2/DATA./x',
    '/hooks.',
    '/v1.0.x',
    '/v1.0/x',
    '/v1.0',
    '/v1.1',
    '/v2./data',
    '/v2../data',
    '/v2.x/%2e%2e/data',
  ])('ATK-097 with several prefixes %s is guarded', async (target) => {
    const { ask, served } = await serve({ baseAPIRoutes: ['/v2/data', '/hooks', '/v1.0', '/v1'] }, [
      '/v2',
      '/hooks',
      '/v1',
    ])
    expect([await ask(target), served]).toEqual([401, []])
  })

  test.each(['/apiary.x', '/a.api', '/x/api.y', '/v2.json', '/v2.1/x', '/v2.1', '/'])(
    'ATK-098 %s stays open',
    async (target) => {
      const { ask, served } = await serve({ baseAPIRoutes: ['/api', '/v2/data'] }, ['/'])
      expect([await ask(target), served]).toEqual([200, [target]])
    },
  )

  test('ATK-097 also where the layer stands before the server that it listens to, and for no other listener', async () => {
    const behind = await serve({}, ['/api'], '/', 'server')
    for (const target of ['/api.x', '/API./orders']) expect([target, await behind.ask(target)]).toEqual([target, 401])
    expect([await behind.ask('/apiary.x'), behind.served]).toEqual([404, []])
    const other = await serve({}, ['/'], '/', 'other')
    expect([await other.ask('/api.json'), other.served]).toEqual([200, ['/api.json']])
  })

  test.each(['/auth.', '/auth.x', '/AUTH./login', '/auth./login'])(
    '%s is ours, like what else lies there',
    async (target) => {
      const { ask, served } = await serve({}, ['/auth'])
      expect([await ask(target), served]).toEqual([404, []])
    },
  )

  test.each(['/dev/api.x', '/dev/API./orders', '/dev./api/orders'])(
    'ATK-097 below a prefix of a parent %s is guarded',
    async (target) => {
      const { ask, served } = await serve({}, ['/api', '/'], '/dev')
      expect([await ask(target), served]).toEqual([401, []])
    },
  )
})

/** An application that answers at these mounts, with the layer before it. */
async function serve(
  settings: Partial<LatchkeySettings>,
  mounts: readonly string[],
  parent = '/',
  place: 'application' | 'server' | 'other' = 'application',
) {
  const served: string[] = []
  const app = connectPackage()
  const outer = connectPackage().use(parent, app)
  const server = createServer(place === 'other' ? (req, res) => outer(req, res) : outer)
  const logger = { warn: () => {}, error: () => {} }
  const auth = init(
    place === 'application' ? app : server,
    testSettings({ baseUrl: 'http://127.0.0.1', logger, ...settings }),
    createTestRuntime(),
  )
  const answer: Served = (req, res) => {
    served.push(req.url ?? '')
    res.end()
  }
  for (const mount of mounts) app.use(mount, answer)
  await auth.ready()
  const { token } = await auth.apiTokens.create({ name: 'reader' })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await auth.close()
  })
  const { port } = server.address() as AddressInfo
  async function ask(target: string, line = 'X-A: b'): Promise<number> {
    return (await rawRequest(port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}\r\n\r\n`)).status
  }
  return { ask, served, token }
}
