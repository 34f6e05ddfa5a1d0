import { describe, expect, test } from 'vitest'
import { testAuth } from '../support/auth.js'

const vite = 'http://localhost:5173'
const live = 'https://app.example.test'
const account = { email: 'ada@example.test', password: 'correct horse battery' }

async function scene(settings: Parameters<typeof testAuth>[0] = {}) {
  const lines: unknown[] = []
  const logger = {
    warn: ({ event, ...fields }: Readonly<Record<string, unknown>>) => {
      if (event === 'origin_refused') lines.push(fields)
    },
    error: () => {},
  }
  const { client, runtime } = await testAuth({ logger, ...settings })
  const baseUrl = settings.baseUrl ?? 'http://localhost:3000'
  async function refusal(headers: Record<string, string>, path = '/auth/login') {
    const answer = await client({ as: 'server', baseUrl }).post<{ code: string; detail: string }>(path, account, {
      headers,
    })
    expect(answer.body.code).toBe('csrf_rejected')
    return { detail: answer.body.detail, explain: answer.headers.get('x-latchkey-explain') }
  }
  return { refusal, lines, clock: runtime.clock }
}

describe('in development a refused origin', () => {
  test.each(['/auth/login', '/api/notes'])('of %s is named with the one expected and the remedy', async (path) => {
    const { refusal } = await scene()
    const { detail, explain } = await refusal({ origin: vite }, path)
    expect(detail).toContain(`came from ${vite}, and this application is http://localhost:3000.`)
    expect(detail).toContain('add its origin to trustedOrigins')
    expect(detail).toContain('X-Auth-Mode: token')
    expect(explain).toBe(`origin rule: ${detail}`)
  })

  test.each([
    ['null', 'an Origin header that names no origin'],
    ['http://localhost:5173/path', 'an Origin header that names no origin'],
    ['<script>alert(1)</script>', 'an Origin header that names no origin'],
  ])('is not repeated when it is none: %s', async (origin, sentence) => {
    const { refusal, lines } = await scene()
    const { detail } = await refusal({ origin })
    expect(detail).toContain(sentence)
    expect(detail).not.toMatch(/script|path/)
    expect(lines).toEqual([])
  })

  test('that is trusted is told that it sends no forms', async () => {
    const { refusal } = await scene({ trustedOrigins: [vite] })
    const form = { origin: vite, 'content-type': 'application/x-www-form-urlencoded' }
    expect((await refusal(form)).detail).toContain(`A form came from ${vite}.`)
  })

  test('is absent: then the sentence says which headers are missing', async () => {
    const { refusal } = await scene()
    expect((await refusal({ cookie: 'access-token=x' })).detail).toContain('neither Origin nor Sec-Fetch-Site')
    expect((await refusal({ 'sec-fetch-site': 'cross-site' })).detail).toContain('a page of another site')
  })
})

test('outside development the answer stays as it was', async () => {
  const { refusal } = await scene({ baseUrl: live })
  expect(await refusal({ origin: 'https://evil.example' })).toEqual({
    detail: 'The request came from another site.',
    explain: null,
  })
})

describe('the log', () => {
  test('has one line a new origin, also outside development and for the guard', async () => {
    const { refusal, lines } = await scene({ baseUrl: live })
    await refusal({ origin: 'https://spa.example.test' })
    await refusal({ origin: 'https://spa.example.test' }, '/api/notes')
    await refusal({ origin: 'https://other.example.test' }, '/api/notes')
    expect(lines).toEqual([
      { origin: 'https://spa.example.test', expected: live },
      { origin: 'https://other.example.test', expected: live },
    ])
  })

  test('has a line for a preflight that got no permission', async () => {
    const lines: unknown[] = []
    const logger = { warn: (fields: object) => void lines.push(fields), error: () => {} }
    const { auth } = await testAuth({ logger, trustedOrigins: ['http://localhost:4000'] })
    const ask = (origin: string) =>
      auth.fetch(
        new Request('http://localhost:3000/auth/login', {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'POST' },
        }),
        { ip: '127.0.0.1' },
      )
    await ask('http://localhost:4000')
    await ask(vite)
    expect(lines).toEqual([expect.objectContaining({ event: 'origin_refused', origin: vite })])
  })

  test('is not filled by made-up origins, and they hide no other for longer than they come', async () => {
    const { refusal, lines, clock } = await scene({ baseUrl: live })
    const spa = 'https://spa.example.test'
    for (let index = 0; index < 25; index += 1) await refusal({ origin: `https://${index}.example.test` })
    await refusal({ origin: spa })
    expect(lines).toHaveLength(20)

    await clock.advance('59s')
    await refusal({ origin: spa })
    expect(lines).toHaveLength(20)
    await clock.advance('1s')
    for (const origin of [spa, 'https://26.example.test', spa]) await refusal({ origin })
    expect(lines.slice(20)).toEqual([{ origin: spa, expected: live, unlogged: 7 }])

    await clock.advance('2m')
    for (const host of [27, 28, 29]) await refusal({ origin: `https://${host}.example.test` })
    expect(lines.slice(21)).toEqual([
      { origin: 'https://27.example.test', expected: live, unlogged: 1 },
      { origin: 'https://28.example.test', expected: live },
    ])
  })
})
