import { expect, test } from 'vitest'
import { testAuth } from '../support/auth.js'

interface Line {
  event: unknown
  header: unknown
  message: string
}

/** A running Latchkey that keeps its warnings, and a way to send requests with headers. */
async function scene(settings: Parameters<typeof testAuth>[0]) {
  const lines: Line[] = []
  const logger = {
    warn: ({ event, header }: Readonly<Record<string, unknown>>, message: string) => {
      lines.push({ event, header, message })
    },
    error: () => {},
  }
  const { auth } = await testAuth({ baseUrl: 'https://app.example.test', logger, ...settings })
  async function send(headers: Record<string, string>, path = '/api/x') {
    await auth.fetch(new Request(`https://app.example.test${path}`, { headers }), { ip: '10.0.0.1' })
    return lines.filter(({ event }) => event === 'forwarding_ignored')
  }
  return { send }
}

test.each(['x-forwarded-for', 'forwarded', 'x-real-ip'])(
  'the first %s that is ignored is logged with the remedy, once and without its value',
  async (header) => {
    const { send } = await scene({ publicRoutes: ['/api/x'] })
    expect(await send({})).toEqual([])
    const lines = await send({ [header]: '203.0.113.7' })
    expect(lines).toEqual([
      { event: 'forwarding_ignored', header, message: expect.stringContaining('set trustedProxies') },
    ])
    expect(JSON.stringify(lines)).not.toContain('203.0.113.7')
    expect(await send({ [header]: '203.0.113.8' })).toHaveLength(1)
  },
)

test('a request to an auth route shows the header, too', async () => {
  const { send } = await scene({})
  expect(await send({ 'x-forwarded-for': '203.0.113.7' }, '/auth/login')).toHaveLength(1)
})

test('nothing is logged in development, nor where trustedProxies is set', async () => {
  const local = await scene({ baseUrl: 'http://localhost:3000', publicRoutes: ['/api/x'] })
  expect(await local.send({ 'x-forwarded-for': '203.0.113.7' })).toEqual([])
  const behind = await scene({ trustedProxies: ['10.0.0.0/8'], publicRoutes: ['/api/x'] })
  expect(await behind.send({ 'x-forwarded-for': '203.0.113.7' })).toEqual([])
})
