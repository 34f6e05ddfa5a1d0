import { describe, expect, test } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import { type AttackServer, ada, attackServer, claimsOf, expectRefusal } from '../support/attack-server.js'

const https = 'https://app.example.test'
const httpsSettings = { baseUrl: https }

/** One `Set-Cookie` line, where it came from and when it said to go. */
interface Line {
  step: string
  text: string
  name: string
  value: string
  attributes: Map<string, string>
  cacheControl: string | null
}

/** Every `Set-Cookie` line of a whole life: register, confirm, refresh, sign out, in, in by a code, delete. */
async function livesOf(server: AttackServer, origin: string): Promise<Line[]> {
  const browser = server.clientAt(origin)
  const lines: Line[] = []
  async function step(name: string, method: 'post' | 'delete', path: string, body?: unknown) {
    const { headers } = await browser[method](path, body)
    for (const text of headers.getSetCookie()) lines.push(parse(name, text, headers.get('cache-control')))
  }
  await step('register', 'post', '/auth/register', ada)
  const token = server.mailbox.token(await server.mailbox.waitFor(ada.email))
  await step('verify-email', 'post', '/auth/verify-email', { token })
  await step('refresh', 'post', '/auth/refresh')
  await step('logout', 'post', '/auth/logout')
  await step('login', 'post', '/auth/login', ada)
  await step('otp', 'post', '/auth/otp', { email: ada.email })
  const code = server.mailbox.code(await server.mailbox.waitFor(ada.email, 'code'))
  await step('otp/verify', 'post', '/auth/otp/verify', { email: ada.email, code })
  await step('delete', 'delete', '/auth/me', { password: ada.password })
  await step('logout of nobody', 'post', '/auth/logout')
  return lines
}

function parse(step: string, text: string, cacheControl: string | null): Line {
  const [pair = '', ...rest] = text.split('; ')
  const halves = (part: string): [string, string] => [part.split('=')[0] ?? '', part.slice(part.indexOf('=') + 1)]
  const [name, value] = halves(pair)
  const attributes = new Map(rest.map(halves).map(([key, content]) => [key.toLowerCase(), content]))
  return { step, text, name, value, attributes, cacheControl }
}

async function livesUnder(settings: Partial<LatchkeySettings>, origin = https): Promise<Line[]> {
  const server = await attackServer({ settings })
  try {
    return await livesOf(server, origin)
  } finally {
    await server.close()
  }
}

const steps = [
  ...['register', 'verify-email', 'refresh', 'logout', 'login', 'otp', 'otp/verify', 'delete', 'logout of nobody'],
]

describe('ATK-080 every Set-Cookie of every flow over https', async () => {
  const lines = await livesUnder(httpsSettings)

  test('ATK-080 each flow sets or clears what it has to', () => {
    const namesAt = (step: string) => lines.filter((line) => line.step === step).map(({ name }) => name)
    const both = ['__Host-access-token', '__Secure-refresh-token']
    const device = '__Host-known-device'
    expect(Object.fromEntries(steps.map((step) => [step, namesAt(step)]))).toEqual({
      register: ['__Host-registration'],
      'verify-email': [...both, device, '__Host-registration'],
      refresh: both,
      logout: both,
      login: [...both, device],
      otp: ['__Host-otp'],
      'otp/verify': [...both, device, '__Host-otp'],
      delete: [...both, device],
      'logout of nobody': both,
    })
  })

  test.each(lines)('ATK-080 $step: $name has the attributes that it needs', ({ name, text, attributes }) => {
    expect([...attributes.keys()]).toEqual(
      expect.arrayContaining(['path', 'max-age', 'httponly', 'secure', 'samesite']),
    )
    expect(attributes.get('samesite')).toBe('Lax')
    expect(attributes.get('path')).toBe(name.startsWith('__Host-') ? '/' : '/auth')
    expect(text).not.toMatch(/domain/i)
  })

  test.each(lines)('ATK-080 $step: $name fits and is plain', ({ name, value, attributes }) => {
    expect(name.length + value.length).toBeLessThanOrEqual(4_096)
    // RFC 6265 §4.1.1, cookie-octet.
    expect(value).toMatch(/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/)
    expect(Number(attributes.get('max-age'))).toBeLessThanOrEqual(34_560_000)
    for (const content of attributes.values()) expect(content.length).toBeLessThanOrEqual(1_024)
  })

  test.each(lines)('ATK-080 $step: an answer that sets $name is stored by nobody', ({ cacheControl }) => {
    expect(cacheControl).toBe('no-store')
  })

  const tokens = lines.filter(({ value, name }) => value !== '' && name.endsWith('-token'))
  test.each(tokens)('ATK-080 $step: $name lives as long as its token', ({ value, attributes }) => {
    const { iat, exp } = claimsOf(value)
    expect(Number(attributes.get('max-age'))).toBe(Number(exp) - Number(iat))
  })

  const handles: Readonly<Record<string, string>> = { 'verify-email': 'registration', 'otp/verify': 'otp' }
  const cleared = lines.filter(({ step, name }) => /logout|delete/.test(step) || name === `__Host-${handles[step]}`)
  test.each(cleared)('ATK-080 $step: $name is cleared as it was set', ({ name, value, attributes }) => {
    expect([value, attributes.get('max-age'), attributes.get('expires')]).toEqual(['', '0', new Date(0).toUTCString()])
    const set = lines.find((line) => line.name === name && line.value !== '')
    for (const attribute of ['path', 'secure', 'httponly', 'samesite', 'domain', 'partitioned']) {
      expect(attributes.get(attribute)).toBe(set?.attributes.get(attribute))
    }
  })

  test('ATK-080 all of them together stay below 4 KiB', () => {
    const newest = new Map(lines.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]))
    const header = [...newest].map(([name, value]) => `${name}=${value}`).join('; ')
    expect(newest.size).toBe(5)
    expect(header.length).toBeLessThan(4_096)
  })
})

describe('ATK-080 under other settings', () => {
  test('ATK-080 SameSite=None is Secure, and Partitioned where the owner says so', async () => {
    const cookies = { sameSite: 'none', partitioned: true } as const
    const lines = await livesUnder({ ...httpsSettings, cookies, trustedOrigins: ['https://shop.example.test'] })
    expect(lines).toHaveLength(22)
    for (const { attributes } of lines) {
      expect(attributes.get('samesite')).toBe('None')
      expect(attributes.has('secure') && attributes.has('partitioned')).toBe(true)
    }
  })

  test('ATK-080 ATK-214 with a domain only the session cookies name it, and each is cleared as it was set', async () => {
    const lines = await livesUnder({ ...httpsSettings, cookies: { domain: 'example.test' } })
    expect(lines).toHaveLength(22)
    for (const { name, attributes } of lines) {
      const shared = /^__Secure-(?:access|refresh)-token$/.test(name)
      expect([name, attributes.get('domain')]).toEqual([name, shared ? 'example.test' : undefined])
      expect(name.startsWith('__Host-')).toBe(!shared)
      if (!shared) expect(attributes.get('path')).toBe('/')
    }
  })

  test('ATK-080 http on loopback has names without prefix, and a suffix keeps applications apart', async () => {
    const origin = 'http://localhost:3000'
    const lines = await livesUnder({ baseUrl: origin, cookies: { suffix: 'shop', sameSite: 'strict' } }, origin)
    expect([...new Set(lines.map(({ name }) => name))].sort()).toEqual([
      'access-token-shop',
      'known-device-shop',
      'otp-shop',
      'refresh-token-shop',
      'registration-shop',
    ])
    for (const { name, attributes } of lines) {
      // The page behind a mailed link reads that one, and lets nobody in by it.
      const sameSite = name === 'registration-shop' ? 'Lax' : 'Strict'
      expect([attributes.has('secure'), attributes.get('samesite')]).toEqual([false, sameSite])
    }
  })

  test('ATK-080 a request header never turns the safe names into the others', async () => {
    const server = await attackServer({ settings: httpsSettings })
    try {
      const lying = { 'x-forwarded-proto': 'http', 'x-forwarded-host': 'localhost', host: 'localhost:3000' }
      const client = server.clientAt(https, { headers: lying })
      await client.signUp(ada)
      const names = client.cookies.all().map(({ name }) => name)
      expect(names.sort()).toEqual(['__Host-access-token', '__Host-known-device', '__Secure-refresh-token'])
      const plain = { cookie: `access-token=${client.cookies.get('__Host-access-token')}`, ...lying }
      expectRefusal(await server.ask('GET', '/api/secret', { headers: plain }), 401)
    } finally {
      await server.close()
    }
  })
})

describe('ATK-082 tokens where a script can read them', () => {
  test('ATK-082 no answer to a browser holds a token outside Set-Cookie', async () => {
    const server = await attackServer({ settings: httpsSettings })
    try {
      const browser = server.clientAt(https)
      const signedUp = await browser.signUp(ada)
      const answers = [signedUp, await browser.signIn(ada), await browser.refresh(), await browser.get('/auth/me')]
      const form = { email: ada.email, password: ada.password }
      answers.push(await browser.get('/auth/sessions'), await browser.get('/auth/verify-email?token=x'))
      for (const { text, headers } of answers) {
        headers.delete('set-cookie')
        expect(text + JSON.stringify([...headers])).not.toContain('eyJ')
      }
      const posted = await browser.submit('/auth/login', form)
      expect(posted.url.href).not.toContain('eyJ')
    } finally {
      await server.close()
    }
  })
})
