import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createAuth } from '../../../src/index.js'
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
async function development() {
  const { mail: _none, ...settings } = testSettings({ brand: { name: 'Notes' }, baseUrl: 'http://localhost:3000' })
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
  expect(text).toMatch(/<a class="button" href="http:\/\/localhost:3000\/auth\/verify-email\?token&#x3D;[\w-]+"/)
  expect(text).toMatch(/<time datetime="[\d-]+T[^"]+">\w{3} \d+, \d{4}/)
})

test('the mailbox page shows a sample of every mail, and its key is asked for there too', async () => {
  const { address, open } = await development()
  const page = await open(`${address}&samples`)
  expect(page.text.match(/<article/g)).toHaveLength(
    Object.keys(samples).filter((name) => name.startsWith('mail/')).length,
  )
  expect(page.text).toContain('You already have an account at Notes')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect((await open(address.replace(/key=.*/, 'key=wrong&samples'))).status).toBe(404)
  expect((await open(`${address}&samples`, '10.0.0.1')).status).toBe(404)
})
