import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createAuth, type LatchkeySettings } from '../../../src/index.js'
import { samples } from '../../../src/templates/samples.js'
import { createTestRuntime, testSettings } from '../../../src/testing.js'
import { ada } from '../../support/auth.js'

const printed: string[] = []
beforeAll(() => {
  vi.spyOn(console, 'log').mockImplementation((line) => void printed.push(String(line)))
})
afterAll(() => {
  vi.restoreAllMocks()
})

/** An application in development, whose mails stay in the mailbox; `open` is the developer at this machine. */
async function development(overrides: Partial<LatchkeySettings> = {}) {
  const { mail: _none, ...settings } = testSettings({
    brand: { name: 'Notes' },
    baseUrl: 'http://localhost:3000',
    ...overrides,
  })
  const auth = createAuth(settings, createTestRuntime())
  onTestFinished(() => auth.close())
  await auth.ready()
  const address = /http:\S+mailbox\?key=[\w-]+/.exec(printed.at(-1) ?? '')?.[0] ?? ''
  const open = async (url: string, ip = '127.0.0.1') => {
    const answer = await auth.fetch(new Request(url, { headers: { host: 'localhost:3000' } }), { ip })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  return { auth, address, open }
}

test('the address of the mailbox is printed once, when the store opens', async () => {
  const { mail: _none, ...settings } = testSettings({ baseUrl: 'http://localhost:3000' })
  printed.length = 0
  const auth = createAuth(settings, createTestRuntime())
  onTestFinished(() => auth.close())
  await new Promise((resolve) => setTimeout(resolve, 10))
  await auth.migrations()
  expect(printed).toEqual([])
  await Promise.all([auth.ready(), auth.ready()])
  expect(printed).toEqual([
    expect.stringContaining('Mails are kept in the development mailbox: http://localhost:3000/'),
  ])
})

test('the mailbox page shows what was mailed, with its code and its link', async () => {
  const { auth, address, open } = await development()
  expect((await open(address)).text).toContain('No mail yet.')
  const headers = { 'content-type': 'application/json', host: 'localhost:3000' }
  const body = JSON.stringify(ada)
  await auth.fetch(new Request('http://localhost:3000/auth/register', { method: 'POST', headers, body }), {
    ip: '127.0.0.1',
  })
  await expect.poll(async () => (await open(address)).text).toContain('<h2>Confirm your email address for Notes</h2>')

  const { text } = await open(address)
  expect(text).toContain(`<dd>${ada.email}</dd>`)
  expect(text).toMatch(/<dd><code>\d{6}<\/code><\/dd>/)
  expect(text).toMatch(/<a class="button small" href="http:\/\/localhost:3000\/auth\/verify-email\?token&#x3D;[\w-]+"/)
  expect(text).toMatch(/<time datetime="[\d-]+T[^"]+">\w{3} \d+, \d{4}/)
})

test('a mail that the limit refused is shown on the console and on the mailbox page', async () => {
  const { auth, address, open } = await development({ limits: {} })
  const headers = { 'content-type': 'application/json', host: 'localhost:3000' }
  const body = JSON.stringify({ email: ada.email })
  for (let nth = 0; nth < 4; nth += 1) {
    const asked = new Request('http://localhost:3000/auth/otp', { method: 'POST', headers, body })
    expect((await auth.fetch(asked, { ip: '127.0.0.1' })).status).toBe(202)
  }
  expect(printed).toContain(`No mail to ${ada.email}: the mail limit (otp) has room again in 15 min.`)
  const { text } = await open(address)
  expect(text).toContain('<h2>No mail was sent</h2>')
  expect(text).toContain(`<dd>${ada.email}</dd>`)
  expect(text).toContain('<code>otp</code>')
  expect(text).toContain('It has room again in 15 minutes.')
})

test('with a mail server in development the log says so, without the address', async () => {
  const logged: unknown[] = []
  const logger = { warn: (...entry: unknown[]) => void logged.push(entry), error: () => {} }
  const ask = async (overrides: Partial<LatchkeySettings>) => {
    const auth = createAuth(testSettings({ limits: {}, logger, ...overrides }), createTestRuntime())
    onTestFinished(() => auth.close())
    for (let nth = 0; nth < 4; nth += 1) {
      const body = JSON.stringify({ email: ada.email })
      const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      await auth.fetch(new Request('http://localhost:3000/auth/otp', asked), { ip: '127.0.0.1' })
    }
    return JSON.stringify(logged.filter((entry) => JSON.stringify(entry).includes('mail_refused')))
  }
  const inDevelopment = await ask({})
  expect(inDevelopment).toContain('"purpose":"otp"')
  expect(inDevelopment).not.toContain(ada.email)
  logged.length = 0
  expect(await ask({ baseUrl: 'https://app.example', trustedProxies: 1 })).toBe('[]')
})

test('the mailbox page shows a sample of every mail, and its key is asked for there too', async () => {
  const { address, open } = await development()
  const page = await open(`${address}&samples`)
  expect(page.text.match(/&amp;mail&#x3D;|&amp;mail=/g)).toHaveLength(
    Object.keys(samples).filter((name) => name.startsWith('mail/')).length,
  )
  expect(page.text.match(/<article/g)).toHaveLength(1)
  expect(page.text).toContain('You already have an account at Notes')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect((await open(address.replace(/key=.*/, 'key=wrong&samples'))).status).toBe(404)
  expect((await open(`${address}&samples`, '10.0.0.1')).status).toBe(404)
})

test('the mailbox page lists the mails and shows one: the newest, or the chosen one, also when newer ones came in', async () => {
  const { auth, address, open } = await development()
  const headers = { 'content-type': 'application/json', host: 'localhost:3000' }
  const register = async (email: string) => {
    const body = JSON.stringify({ ...ada, email })
    await auth.fetch(new Request('http://localhost:3000/auth/register', { method: 'POST', headers, body }), {
      ip: '127.0.0.1',
    })
    await expect.poll(async () => (await open(address)).text).toContain(email)
  }
  const shown = (text: string) => /<dd>([^<]+@[^<]+)<\/dd>/.exec(text)?.[1]
  await register('first@example.test')
  const [, link = ''] = /<li><a href="([^"]+)" aria-current="true">/.exec((await open(address)).text) ?? []
  await register('second@example.test')
  const newest = await open(address)
  expect(shown(newest.text)).toBe('second@example.test')
  expect(newest.text.match(/<article/g)).toHaveLength(1)
  expect(newest.text).toContain('<div class="mails" data-refresh>')
  const chosen = await open(`http://localhost:3000${link.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=')}`)
  expect(shown(chosen.text)).toBe('first@example.test')
  expect(chosen.text).toContain('<div class="mails chosen" data-refresh>')
  // The list is refreshed by our script, and no other may run: mails stand in frames without scripts.
  const policy = chosen.headers.get('content-security-policy')
  expect(policy).toContain("script-src 'self'; connect-src 'self';")
  expect(chosen.text).toContain('sandbox="allow-popups allow-popups-to-escape-sandbox"')
})
