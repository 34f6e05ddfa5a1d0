import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { Browser, BrowserContext, Page, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AttackServer, attackServer } from '../support/attack-server.js'
import { isChromiumMissing, launchChromium } from './chromium.js'
import { clientModule, clientPage, run } from './tabs-page.js'

const account = { email: 'victim@example.test', password: 'a difference engine of brass' }
const mallory = { email: 'mallory@example.test', password: 'a brass engine of difference' }

/** Every route of attack 78, with what a page of an attacker would post there. */
const writes: readonly [string, Record<string, string>][] = [
  ['/auth/login', mallory],
  ['/auth/register', { ...mallory, email: 'planted@example.test' }],
  ['/auth/refresh', {}],
  ['/auth/logout', {}],
  ['/auth/otp', { email: account.email }],
  ['/auth/password/forgot', { email: account.email }],
  ['/auth/password/reset', { token: 'guessed', password: mallory.password }],
  ['/auth/password/change', { currentPassword: account.password, newPassword: mallory.password }],
  ['/auth/email/change', { newEmail: mallory.email, password: account.password }],
  ['/auth/two-factor/totp', { password: account.password }],
  ['/auth/two-factor', { _method: 'DELETE', password: account.password, code: '123456' }],
  ['/auth/me', { _method: 'DELETE', password: account.password }],
  ['/auth/sessions', { _method: 'DELETE' }],
  ['/api/secret', { a: 'b' }],
]

/** One request of the attacker's page, as the browser sent it. */
interface Received {
  path: string
  origin: string | undefined
  cookie: string
  status: number
  set: string | null
}

async function describeAnswer(response: Response): Promise<Received> {
  const { origin, cookie = '' } = await response.request().allHeaders()
  const set = await response.headerValue('set-cookie')
  return { path: new URL(response.url()).pathname, origin, cookie, status: response.status(), set }
}

/** The weakest cookies there are (SameSite=None, not partitioned): only the origin rule stands between. */
describe.skipIf(isChromiumMissing())('ATK-078 a page of somebody else, in Chromium', () => {
  let browser: Browser
  let laptop: BrowserContext
  let api: AttackServer
  let pages: Server
  let victim: Page
  /** What reached the server since the last attack began. */
  let received: Promise<Received>[] = []

  beforeAll(async () => {
    const module = await clientModule()
    api = await attackServer({
      file: true,
      settings: {
        trustedOrigins: ['http://localhost:3000'],
        cookies: { sameSite: 'none' },
        registration: { emailVerification: 'optional' },
      },
      before(app, handler) {
        app.get('/', (_request, response) => void response.type('html').send(clientPage))
        app.get('/client.js', (_request, response) => void response.type('js').send(module))
        app.all('/api/secret', handler)
      },
    })
    const app = express()
    app.get(
      '/evil',
      (_request, response) => void response.type('html').send('<!doctype html><title>Win a prize</title>'),
    )
    pages = createServer(app).listen(0)
    await once(pages, 'listening')

    await api.client({ as: 'token' }).signUp(mallory)
    browser = await launchChromium()
    laptop = await browser.newContext()
    victim = await laptop.newPage()
    await victim.goto(api.url)
    await victim.waitForFunction('globalThis.auth')
    await run(victim, `auth.signUp(${JSON.stringify(account)})`)
    expect(await run(victim, "auth.fetch('/api/secret').then((answer) => answer.status)")).toBe(200)
  })

  afterAll(async () => {
    await browser?.close()
    pages?.close()
    await api?.close()
  })

  /** All that any of it could change. */
  function state(): string {
    const tables = ['users', 'sessions', 'one_time_tokens', 'outbox', 'audit']
    const rows = tables.map((table) => api.sql<object>(`select * from latchkey_${table} order by id`))
    return JSON.stringify(rows, (name, value) => (/^(proven_at_ms|last_seen_at)$/.test(name) ? null : value))
  }

  async function openEvil(): Promise<Page> {
    const evil = await laptop.newPage()
    evil.on('response', (response) => {
      // Where a page of ours then leads, and what it loads, is no part of the attack.
      if (/^\/(?:auth\/(?!assets\/)|api\/)/.test(new URL(response.url()).pathname))
        received.push(describeAnswer(response))
    })
    await evil.goto(`http://evil.localhost:${(pages.address() as AddressInfo).port}/evil`)
    received = []
    api.calls.length = 0
    return evil
  }

  /** Does it from the attacker's page; what reached the server. */
  async function attack(script: string, count = 1): Promise<Received[]> {
    const evil = await openEvil()
    const before = state()
    // A page that leaves in the middle of it has no result.
    await evil.evaluate(script).catch(() => {})
    await expect.poll(() => received.length).toBe(count)
    const answers = await Promise.all(received)
    // The page stays open until the browser ends: to close one that is just leaving may take forever.
    expect([api.calls, state()]).toEqual([[], before])
    return answers
  }

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])(
    'ATK-078 a form of type %s carries the cookies, and is refused before anything happens',
    async (type) => {
      for (const [path, fields] of writes) {
        const [request] = await attack(`(() => {
          const form = document.createElement('form')
          Object.assign(form, { method: 'POST', action: ${JSON.stringify(api.url + path)}, enctype: '${type}' })
          for (const [name, value] of Object.entries(${JSON.stringify(fields)})) {
            form.append(Object.assign(document.createElement('input'), { name, value }))
          }
          document.body.append(form)
          form.submit()
        })()`)
        expect(request, path).toMatchObject({ origin: expect.stringMatching(/^http:\/\/evil\.localhost:/), set: null })
        expect(request?.cookie, path).toMatch(/access-token=/)
        // What is no body for us at all may be refused for that.
        expect(type.endsWith('urlencoded') || path.startsWith('/api/') ? [403] : [403, 415], path).toContain(
          request?.status,
        )
      }
    },
    60_000,
  )

  test('ATK-078 fetch without CORS is refused as well', async () => {
    const paths = JSON.stringify(writes.map(([path]) => api.url + path))
    const requests = await attack(
      `Promise.all(${paths}.map((url) =>
        fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"a":"b"}' })))`,
      writes.length,
    )
    for (const { path, status, set } of requests) {
      expect(path.startsWith('/api/') ? [403] : [403, 415], path).toContain(status)
      expect(set).toBeNull()
    }
  })

  test('ATK-079 fetch with CORS reads nothing, and its preflight lets no write through', async () => {
    const evil = await openEvil()
    const before = state()
    const outcomes = await run<string[]>(
      evil,
      `Promise.all([['GET', '/api/secret'], ['GET', '/auth/me'], ['PUT', '/api/secret'], ['DELETE', '/auth/me']].map(
        ([method, path]) => fetch(${JSON.stringify(api.url)} + path, { method, credentials: 'include' })
          .then((answer) => answer.text(), (error) => error.name)))`,
    )
    expect(outcomes).toEqual(['TypeError', 'TypeError', 'TypeError', 'TypeError'])
    expect([api.calls, state()]).toEqual([[], before])
  })

  test('ATK-078 a link changes nothing', async () => {
    for (const path of ['login', 'logout', 'refresh', 'password/change', 'two-factor/totp']) {
      const [request] = await attack(`location.href = ${JSON.stringify(`${api.url}/auth/${path}`)}`)
      expect(request?.set, path).toBeNull()
    }
  })

  test('ATK-078 after all that the victim is still signed in', async () => {
    expect(await run(victim, 'auth.session.refresh().then(({ user }) => user.email)')).toBe(account.email)
    expect(await run(victim, "auth.fetch('/api/secret', { method: 'PUT' }).then((answer) => answer.status)")).toBe(200)
  })
})
