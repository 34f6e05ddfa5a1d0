import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type ListeningHost, listeningHost } from '../support/listening-host.js'
import { startOpenIdServer } from '../support/openid-server.js'
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.js'
import { isChromiumMissing, launchChromium } from './chromium.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const ada = { email: 'ada@example.test', password: 'a difference engine of brass' }
const partner = { id: 'partner', secret: 'the secret of a partner' }

/** An issuer that gives its clients RS256 access tokens. */
const machineTokens = {
  clients: [
    {
      client_id: partner.id,
      client_secret: partner.secret,
      redirect_uris: [],
      response_types: [],
      grant_types: ['client_credentials'],
    },
  ],
  scopes: ['api'],
  features: {
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'https://notes.example',
      getResourceServerInfo: () => ({
        scope: 'api',
        accessTokenFormat: 'jwt' as const,
        jwt: { sign: { alg: 'RS256' as const } },
      }),
    },
  },
}

describe.skipIf(isChromiumMissing())('an application with Latchkey inside, in a space', () => {
  let host: ListeningHost
  let smtp: TestSmtpServer
  let pages: Server
  let pageOrigin: string
  const post = (path: string, fields: Record<string, string>) => host.browser.post(`/auth/admin/api${path}`, fields)
  const app = (path: string, init?: RequestInit) => fetch(`${host.baseUrl}/dev${path}`, init)

  beforeAll(async () => {
    host = await listeningHost()
    smtp = await startSmtpServer()
    pages = createServer(
      (_, response) => void response.setHeader('content-type', 'text/html').end('<title>Notes</title>'),
    )
    pages.listen(0, '127.0.0.1')
    await once(pages, 'listening')
    const address = pages.address()
    pageOrigin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    await post('/spaces', { name: 'dev' })
    const secret = () => randomBytes(48).toString('base64')
    for (const name of ['JWT_ACCESS_TOKEN_SECRET', 'JWT_REFRESH_TOKEN_SECRET']) {
      await post('/spaces/dev/env', { name, value: secret(), encrypted: 'true' })
    }
    const plain = { BASE_URL: `${host.baseUrl}/dev`, PAGE_ORIGIN: pageOrigin, MAIL_URL: smtp.url }
    for (const [name, value] of Object.entries(plain)) await post('/spaces/dev/env', { name, value })
    expect(await host.deploy('dev', 'example')).toMatchObject({ done: true, release: 1 })
  })
  afterAll(async () => {
    pages?.close()
    await smtp?.close()
    await host?.close()
  })

  async function mailedToken(): Promise<string> {
    const mail = await vi.waitFor(() => {
      const found = smtp.mails.find(({ envelope }) => envelope.to.includes(ada.email))
      if (found === undefined) throw new Error('no mail yet')
      return found
    }, 30_000)
    return /token=([\w-]+)/.exec(mail.text ?? '')?.[1] ?? ''
  }

  test('a page of another origin registers, signs in and calls the API with cookies', async () => {
    const browser = await launchChromium()
    const page = await (await browser.newContext()).newPage()
    await page.goto(pageOrigin)
    const call = async (path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
      const headers = { 'content-type': 'application/json' }
      const sent = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
      const init = JSON.stringify({ credentials: 'include', ...sent })
      // Playwright calls no function that is given as text.
      const [status, text] = await page.evaluate<[number, string]>(
        `fetch('${host.baseUrl}/dev${path}', ${init}).then(async (answer) => [answer.status, await answer.text()])`,
      )
      return { status, body: /^[[{]/.test(text) ? JSON.parse(text) : text }
    }
    expect((await call('/api/notes')).status).toBe(401)
    expect((await call('/auth/register', ada)).status).toBeLessThan(300)
    expect((await call('/auth/verify-email', { token: await mailedToken() })).status).toBe(200)
    expect((await call('/auth/login', { ...ada, password: 'not her password at all' })).status).toBe(401)
    expect(await call('/auth/login', ada)).toMatchObject({ status: 200, body: { user: { email: ada.email } } })
    expect(await call('/api/notes', { text: 'Feed the cat' })).toMatchObject({ status: 201 })
    expect(await call('/api/notes')).toMatchObject({ status: 200, body: [{ text: 'Feed the cat' }] })
    const cookies = await page.context().cookies(`${host.baseUrl}/dev/auth/refresh`)
    expect(cookies.map(({ name }) => name)).toEqual(expect.arrayContaining([expect.stringMatching(/dev$/)]))
    await browser.close()
  })

  test('an API token gives the same rows in both forms, and an RS256 token of an issuer counts', async () => {
    const made = await fetch(`${host.adminUrl}/auth/admin/api/spaces/dev/tokens`, {
      method: 'POST',
      headers: { cookie: host.browser.cookie(), origin: host.adminUrl, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'script', access: 'READ' }),
    })
    const { token } = (await made.json()) as { token: string }
    const query = new URLSearchParams({ q: '{"text":"Feed the cat"}' })
    const byHeader = await app(`/api/notes?${query}`, { headers: { 'x-apikey': token } })
    expect(byHeader.status).toBe(200)
    const rows = await byHeader.text()
    expect(rows).toContain('Feed the cat')
    query.set('apikey', token)
    expect(await (await app(`/api/notes?${query}`)).text()).toBe(rows)

    const { issuer } = await startOpenIdServer({ CLIENT_ID: '', CLIENT_SECRET: '', REDIRECT_URI: '' }, machineTokens)
    const granted = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${partner.id}:${encodeURIComponent(partner.secret)}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api' }),
    })
    const { access_token } = (await granted.json()) as { access_token: string }
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await app('/api/notes', { headers })).status).toBe(401)
    await post('/spaces/dev/access/jwks', { url: `${issuer}/jwks` })
    expect(await (await app('/api/notes', { headers })).text()).toContain('Feed the cat')
    const [head, claims, signature] = access_token.split('.')
    const forged = `${head}.${claims}.${signature?.split('').reverse().join('')}`
    expect((await app('/api/notes', { headers: { authorization: `Bearer ${forged}` } })).status).toBe(401)
  })

  test('an allow-list admits its addresses alone, and is gone with its last entry', async () => {
    const ask = async () => (await app('/health')).status
    expect(await ask()).toBe(200)
    await post('/spaces/dev/access/networks', { network: '203.0.113.7', force: 'true', confirm: '127.0.0.1' })
    expect(await (await app('/api/notes')).json()).toMatchObject({ code: 'ip_not_allowed' })
    await post('/spaces/dev/access/networks', { network: '127.0.0.1' })
    expect(await (await app('/api/notes')).json()).toMatchObject({ code: 'unauthenticated' })
  })
})
