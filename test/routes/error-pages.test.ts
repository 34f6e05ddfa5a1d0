import { describe, expect, it } from 'vitest'
import { createTestRuntime } from '../../src/testing.js'
import { ada, testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'

const page = 'text/html; charset=utf-8'
const problem = 'application/problem+json'

describe('what a person gets who opens a page that fails', () => {
  it.each([
    ['/auth/logout', 405, 'This method is not supported here.'],
    ['/auth/me', 401, 'Sign in to continue.'],
  ])('%s is a page with status %i', async (path, status, sentence) => {
    const { client } = await testAuth()
    const shown = await client().open(path)
    expect(shown.status).toBe(status)
    expect(shown.headers.get('content-type')).toBe(page)
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(shown.headers.get('x-request-id')).toBeTruthy()
    expect(shown.text).toContain('<title>Error: That did not work')
    expect(shown.text).toContain(sentence)
    expect(shown.text).not.toContain('give this number')
  })

  it('is no alarm where there is no page: no alert, no "Error", and a way on', async () => {
    const { client } = await testAuth({ redirectSuccessUrl: '/home' })
    for (const path of ['/auth/nothing-here', '/auth/error?error=not_found']) {
      const shown = await client().open(path)
      expect(shown.status).toBe(path === '/auth/nothing-here' ? 404 : 200)
      expect(shown.text).toContain('<title>Page not found · ')
      expect(shown.text).not.toContain('role="alert"')
      expect(shown.text).toContain('href="/home"')
    }
  })

  it('is a problem for a script and for a program', async () => {
    const { client } = await testAuth()
    for (const asking of [client(), client({ as: 'server' }), client({ as: 'token' })]) {
      for (const path of ['/auth/nothing-here', '/auth/logout', '/auth/me']) {
        expect((await asking.get(path)).headers.get('content-type')).toBe(problem)
      }
    }
  })

  it('is a page for browsers that say so in Accept only, and none that a script of theirs asked for', async () => {
    const { client } = await testAuth()
    const old = client({ as: 'server', headers: { accept: 'text/html,application/xhtml+xml' } })
    expect((await old.get('/auth/nothing-here')).headers.get('content-type')).toBe(page)
    const script = { accept: 'text/html', 'sec-fetch-mode': 'cors' }
    expect((await client().get('/auth/nothing-here', { headers: script })).headers.get('content-type')).toBe(problem)
  })

  it('keeps what the status calls for: Allow, Retry-After, the limit', async () => {
    const { client } = await testAuth({ limits: { other: { ip: '2/1m' } } })
    const browser = client()
    expect((await browser.open('/auth/logout')).headers.get('allow')).toBe('POST, OPTIONS')
    await browser.open('/auth/login')
    const limited = await browser.open('/auth/login')
    expect(limited.status).toBe(429)
    expect(limited.headers.get('content-type')).toBe(page)
    expect(limited.headers.get('retry-after')).toBe('60')
    expect(limited.headers.get('ratelimit')).toContain('r=0')
    expect(limited.text).toContain('Too many requests.')
  })

  it('names the request when the fault is ours, and nothing of the fault', async () => {
    const database = failingDatabase()
    const { client } = await testAuth({ database: database.dialect })
    database.failAfter(0)
    const shown = await client().open('/auth/verify-email?token=sample', { headers: { cookie: 'registration=sample' } })
    expect(shown.status).toBe(503)
    expect(shown.headers.get('retry-after')).toBe('1')
    expect(shown.text).toContain('The service is temporarily unavailable.')
    expect(shown.text).toContain(`<code>${shown.headers.get('x-request-id')}</code>`)
    expect(shown.text).not.toMatch(/disk|SQLITE/)
  })

  it('is a page also before the store could be opened', async () => {
    const { createAuth } = await import('../../src/index.js')
    const { testSettings } = await import('../../src/testing.js')
    const logger = { warn: () => {}, error: () => {} }
    const settings = testSettings({ database: 'sqlite:/nonexistent/folder/latchkey.db', logger })
    const auth = createAuth(settings, createTestRuntime())
    const ask = (accept: string) =>
      auth.fetch(new Request('http://localhost:3000/auth/login', { headers: { accept } }), { ip: '127.0.0.1' })
    const shown = await ask('text/html')
    expect([shown.status, shown.headers.get('content-type')]).toEqual([503, page])
    expect(await shown.text()).toContain('The service is temporarily unavailable.')
    expect((await ask('application/json')).headers.get('content-type')).toBe(problem)
    await auth.close()
  })
})

describe('a form that fails', () => {
  it('and has no page of its own ends on the error page', async () => {
    const { client } = await testAuth()
    const shown = await client().submit('/auth/logout', { refreshToken: 'x'.repeat(4097) })
    expect(shown.url.pathname + shown.url.search).toBe('/auth/error?error=invalid_request')
    expect(shown.status).toBe(200)
    expect(shown.text).toContain('Please check what you have entered')
  })

  it('for a fault of ours names the request there', async () => {
    const database = failingDatabase()
    const { client } = await testAuth({ database: database.dialect })
    const browser = client()
    await browser.signUp(ada)
    database.failAfter(1)
    const failed = await browser.post('/auth/logout', undefined, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const location = failed.headers.get('location') ?? ''
    expect(location).toBe(`/auth/error?error=store_unavailable&request=${failed.headers.get('x-request-id')}`)
    database.failAfter(Number.POSITIVE_INFINITY)
    expect((await browser.open(location)).text).toContain(`<code>${failed.headers.get('x-request-id')}</code>`)
  })

  it('shows no text of others on the error page', async () => {
    const { client } = await testAuth()
    const shown = await client().open('/auth/error?error=call-0800-555-0199&request=call-0800-555-0199')
    expect(shown.text).not.toContain('0800')
    expect(shown.text).toContain('Something went wrong. Please try again.')
  })
})
