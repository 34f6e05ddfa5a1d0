import { createServer, type RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { fetchText } from '../../src/lib/bounded-fetch.js'
import { fetchFrom, publicFetch } from '../../src/lib/public-fetch.js'
import { createWorld } from '../../src/lib/runtime.js'

const strict = { allowPrivate: false, allowLoopback: false }

/** A server on an address of this machine. */
async function listening(host: string, port: number, answer: RequestListener): Promise<number> {
  const server = createServer(answer)
  server.listen(port, host)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await expect.poll(() => server.address()).not.toBeNull()
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

test('ATK-119 a name that changes its address after it was judged is fetched from the judged address', async () => {
  let [inside, lookups] = [0, 0]
  const port = await listening('127.0.0.1', 0, (_request, response) => {
    inside += 1
    response.end('secret')
  })
  // The machine resolves the name to 127.0.0.1. When it was judged, it had a public address that is in no network.
  const lookup = async () => {
    lookups += 1
    return ['2000::1']
  }
  const world = { ...createWorld(), lookup }
  const asked = fetchText(
    { timer: world.timer, fetch: publicFetch(world, strict) },
    { url: `http://localhost:${port}/keys`, headers: {}, limitMs: 100, limitBytes: 1024 },
  )
  await expect(asked).rejects.toMatchObject({ reason: expect.stringMatching(/unreachable|too_slow/) })
  expect([inside, lookups]).toEqual([0, 1])
})

test('a request goes to the given address, with the name of the URL as its host', async () => {
  const seen: unknown[] = []
  const port = await listening('127.0.0.2', 0, async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    seen.push([request.method, request.url, request.headers.host, request.headers['x-own'], text])
    response.writeHead(200, { 'cache-control': 'max-age=60' }).end('from the second')
  })
  await listening('127.0.0.1', port, (_request, response) => void response.end('from the first'))
  const url = `http://keys.example.test:${port}/set?a=1`
  const init = { method: 'POST', body: 'é', headers: { 'x-own': 'yes' } }
  const answer = await fetchFrom(['127.0.0.2'], new Request(url, init))
  expect([answer.status, answer.headers.get('cache-control'), await answer.text()]).toEqual([
    200,
    'max-age=60',
    'from the second',
  ])
  expect(seen).toEqual([['POST', '/set?a=1', `keys.example.test:${port}`, 'yes', 'é']])
})

test.each([204, 302, 304, 404])(
  'an answer with status %s is handed on, and no redirect is followed',
  async (status) => {
    let asked = 0
    const port = await listening('127.0.0.1', 0, (_request, response) => {
      asked += 1
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    const answer = await fetchFrom(['127.0.0.1'], new Request(`http://keys.example.test:${port}/`))
    expect([answer.status, await answer.text(), asked]).toEqual([status, '', 1])
  },
)

test('a request that is aborted ends its connection', async () => {
  const port = await listening('127.0.0.1', 0, (_request, response) => void response.write('{'))
  const abort = new AbortController()
  const answer = await fetchFrom(
    ['127.0.0.1'],
    new Request(`http://keys.example.test:${port}/`, { signal: abort.signal }),
  )
  abort.abort()
  await expect(answer.text()).rejects.toThrow()
})

test('the own fetch of an application decides where it connects, after the addresses were judged', async () => {
  const asked: string[] = []
  const fetch = async (input: string | URL | Request) => {
    asked.push(String(input))
    return new Response('yes')
  }
  const world = {
    ...createWorld({ fetch }),
    lookup: async (host: string) => [host.startsWith('in') ? '10.0.0.1' : '8.8.8.8'],
  }
  const ask = publicFetch(world, strict)
  expect(await (await ask('https://out.example.test/')).text()).toBe('yes')
  await expect(ask('https://in.example.test/')).rejects.toMatchObject({ reason: 'private_address' })
  expect(asked).toEqual(['https://out.example.test/'])
})
