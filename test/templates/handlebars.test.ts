import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { createTemplates, type TemplateOptions } from '../../src/templates/handlebars.js'
import { samples } from '../../src/templates/samples.js'
import type { Asset } from '../../src/templates/templates.js'

const options: TemplateOptions = {
  templates: null,
  brand: { name: 'Tom & Jerry', logoUrl: null, accentColor: null },
  labels: {},
  locale: 'en',
  origin: 'https://app.example',
  urlPath: '/app',
  basePath: '/auth',
}
const url = 'https://app.example/auth/verify-email?token=abc-DEF_123'
const verify = { name: 'Ada', url, code: '048213', lifetimeHours: '24' }

/** The colours of links at the end of the stylesheet: on light pages, on dark ones. */
function linksIn(css: Asset['body'] | undefined): string[] {
  const end = String(css).slice(String(css).lastIndexOf(':root {', String(css).lastIndexOf('@media')))
  return [...end.matchAll(/--link: (#[0-9a-f]{6});/g)].map(([, colour = '']) => colour)
}

/** The ratio of WCAG 2.2. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string) => {
    const channels = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    const [red = 0, green = 0, blue = 0] = channels.map((c) =>
      c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4,
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [darker = 0, brighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (brighter + 0.05) / (darker + 0.05)
}

function handlebarsIsLoaded(): boolean {
  const { cache } = createRequire(import.meta.url)
  return Object.keys(cache).some((path) => path.includes('/node_modules/handlebars/'))
}

test('handlebars is loaded by the first page and not before', () => {
  const templates = createTemplates(options)
  expect(handlebarsIsLoaded()).toBe(false)
  templates.page('error', {})
  expect(handlebarsIsLoaded()).toBe(true)
})

describe('mails', () => {
  const templates = createTemplates(options)
  const names = Object.keys(samples).filter((name) => name.startsWith('mail/'))

  test.each(names)('%s has a subject of one line, a plain text and an HTML part', (name) => {
    const mail = templates.mail(name.slice('mail/'.length), samples[name] ?? {})
    expect(mail.subject).toMatch(/^\S.*Tom & Jerry$/)
    expect(mail.text).toContain('Tom & Jerry')
    expect(mail.text).not.toMatch(/&amp;|<|\{\{|\n{3}/)
    expect(mail.html).toContain('Tom &amp; Jerry')
    expect(mail.html).toMatch(/^<!doctype html>\n<html lang="en" dir="ltr">/)
    expect(mail.html).not.toMatch(/<script|javascript:|\{\{/)
  })

  test('a text part begins with the action link and has the code as its only number of six to eight digits', () => {
    const { text, html } = templates.mail('verify', verify)
    expect(text.match(/https?:\/\/\S+/g)).toEqual([url])
    expect(text.replaceAll(url, '').match(/(?<!\d)\d{6,8}(?!\d)/g)).toEqual(['048213'])
    expect(text).toContain('Hello Ada,')
    expect(text).toContain('24 hours')
    expect(html.match(/href="[^"]*"/g)).toEqual(Array(2).fill(`href="${url.replace('=', '&#x3D;')}"`))
  })

  test('a security notice tells device and time in our own words and has no link', () => {
    const { text, html } = templates.mail('refresh-reuse', {
      device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 https://evil.test/click',
      at: '2026-11-21T06:12:00.000Z',
    })
    expect(text).toContain('Device: Firefox on Linux\n')
    expect(text).toContain('Time: November 21, 2026 at 6:12:00 AM UTC\n')
    expect(text + html).not.toMatch(/evil|20100101|https?:|href/)
  })

  test('without a name the greeting has none', () => {
    expect(templates.mail('verify', { ...verify, name: '' }).text).toMatch(/^Hello,\n/)
  })

  test('a value that is missing is an error, not a gap', () => {
    const { code: _code, ...rest } = verify
    expect(() => templates.mail('verify', rest)).toThrow('"code" not defined')
    expect(() => templates.mail('no-such-mail', verify)).toThrow('There is no template')
    expect(() => templates.page('../mail/layout.html', {})).toThrow('There is no template')
  })
})

describe('pages', () => {
  const templates = createTemplates(options)

  test('the confirm page posts the token, asks for the password only elsewhere, and runs nothing', () => {
    const own = templates.page('verify-email', { token: 'abc', ownBrowser: true })
    expect(own).toContain('<form method="post" action="/app/auth/verify-email">')
    expect(own).toContain('<input type="hidden" name="token" value="abc">')
    expect(own).not.toMatch(
      /type="password"|role="alert"|<script(?! src="\/app\/auth\/assets\/)|<style|style=|\son\w+=/i,
    )
    expect(own).toContain('close this page')
    // The header decides: with no-referrer the browser would post the form with `Origin: null`.
    expect(own).not.toContain('referrer')

    const other = templates.page('verify-email', { token: 'abc', ownBrowser: false })
    expect(other).toMatch(
      /<label for="password">[\s\S]*<input id="password"[^>]*autocomplete="current-password" required/,
    )
  })

  test('the confirm page without a token asks for the code', () => {
    const page = templates.page('verify-email', { token: '', ownBrowser: true, codeDigits: 6 })
    expect(page).toContain('autocomplete="one-time-code"')
    expect(page).not.toMatch(/name="(?:token|email|password)"/)
    const elsewhere = templates.page('verify-email', { token: '', ownBrowser: false, codeDigits: 6 })
    expect(elsewhere).toMatch(/name="email"[\s\S]*name="code"[\s\S]*name="password"/)
  })

  test.each([
    ['invalid_token', 'It may have been used, replaced or expired.'],
    ['invalid_credentials', 'The email or the password is wrong.'],
    ['oauth_denied', 'The sign-in was cancelled.'],
    ['<script>alert(1)</script>', 'Something went wrong. Please try again.'],
    ['constructor', 'Something went wrong. Please try again.'],
    ['__proto__', 'Something went wrong. Please try again.'],
  ])('an error %s is told by our own sentence', (error, sentence) => {
    for (const page of [
      templates.page('verify-email', { token: 'abc', ownBrowser: false, error }),
      templates.page('error', { error }),
    ]) {
      expect(page).toMatch(/role="alert"/)
      expect(page).toContain(sentence)
      expect(page).not.toContain(error)
    }
  })

  test('reflected values are escaped', () => {
    const evil = '"><script>alert(1)</script>'
    const page = templates.page('verify-email', { token: evil, redirect: evil, error: evil, reasons: [evil] })
    const mark = { google: false, github: false, microsoft: false, initial: evil }
    const login = templates.page('login', {
      redirect: evil,
      carry: evil,
      providers: [{ path: evil, provider: evil, mark }],
    })
    expect(page + login).not.toContain('<script>')
    expect(templates.page('error', { error: evil, requestId: evil })).not.toContain('<script>')
  })

  test('a page of an application under a mount has links below it', () => {
    const page = templates.page('verify-email', {
      token: 'a',
      ownBrowser: true,
      basePath: '/space/auth',
    })
    expect(page).toContain('action="/space/auth/verify-email"')
    expect(page).toContain('href="/space/auth/assets/latchkey.')
  })

  test('the mailbox shows code, link, HTML where no script runs, and text with its links', () => {
    const kept = { to: 'ada@app.example', at: '2026-01-01T00:00:00.000Z', time: 'Jan 1, 2026' }
    const mail = { ...kept, ...templates.mail('verify', verify) }
    const hostile = {
      ...mail,
      subject: '<script>1</script>',
      text: 'javascript:alert(1) <script>2</script> https://evil.test/"onclick="x',
      html: '"><script>3</script>',
    }
    const address = '/auth/dev/mailbox?key=abc'
    const listed = [mail, hostile].map((one, index) => ({ ...one, id: String(index), current: index === 0 }))
    const show = (one: object) => templates.page('mailbox', { mails: listed, mail: one, samples: false, address })
    const page = show(mail) + show(hostile)
    const href = `href="${url.replace('=', '&#x3D;')}" target="_blank" rel="noopener noreferrer">`
    expect(page.split(href)).toHaveLength(3)
    expect(page).toContain('<dd><code>048213</code></dd>')
    expect(page).not.toMatch(
      /<script(?! src="\/app\/auth\/assets\/)|href="javascript|allow-scripts|allow-same-origin|"onclick/,
    )
    expect(page.match(/<iframe [^>]*sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc="/g)).toHaveLength(2)
    expect(page).toContain('<a href="/auth/dev/mailbox?key&#x3D;abc&amp;samples">')
    expect(templates.page('mailbox', { mails: [], mail: null, samples: false, address })).toContain('No mail yet.')
  })
})

describe('brand, labels, locale', () => {
  test('the brand’s colours reach the stylesheet and the mails, with a text colour that can be read on them', () => {
    const bright = createTemplates({
      ...options,
      brand: { ...options.brand, accentColor: '#fd0', logoUrl: '/logo.png' },
    })
    const page = bright.page('error', {})
    const fileName = /assets\/(latchkey\.[0-9a-f]{16}\.css)"/.exec(page)?.[1] ?? ''
    const css = bright.asset(fileName)
    expect(css?.contentType).toBe('text/css; charset=utf-8')
    expect(css?.body).toContain('--accent: #fd0;\n  --on-accent: #000000;')
    expect(linksIn(css?.body)).toEqual(['#806f00', '#ffdd00'])
    expect(page).toContain('<img class="logo" src="/logo.png" alt="Tom &amp; Jerry"')
    expect(bright.mail('verify', verify).html).toContain('background-color: #fd0;"')
    expect(bright.asset('latchkey.css')).toBeNull()
    expect(createTemplates(options).asset(fileName)).toBeNull()
  })

  test.each(['#fd0', '#ffffff', '#000', '#1f5fd1', '#777777', '#00ff00'])(
    'links in a brand of %s can be read on light and dark pages (WCAG 2.2, 1.4.3)',
    (accentColor) => {
      const branded = createTemplates({ ...options, brand: { ...options.brand, accentColor } })
      const fileName = /assets\/(latchkey\.[0-9a-f]{16}\.css)"/.exec(branded.page('error', {}))?.[1] ?? ''
      const [light = '', dark = ''] = linksIn(branded.asset(fileName)?.body)
      for (const surface of ['#f2f4f7', '#f6f7f9', '#ffffff'])
        expect(contrast(light, surface)).toBeGreaterThanOrEqual(4.5)
      for (const surface of ['#0e1116', '#161a21', '#1c212a'])
        expect(contrast(dark, surface)).toBeGreaterThanOrEqual(4.5)
    },
  )

  test('the same content has the same asset name, so that it may be cached for ever', () => {
    const [one, other] = [createTemplates(options), createTemplates(options)].map(
      (templates) => /assets\/(\S+?)"/.exec(templates.page('error', {}))?.[1],
    )
    expect(one).toBe(other)
  })

  test('labels replace single texts, and a value in one is not read as a text again', () => {
    const templates = createTemplates({
      ...options,
      locale: 'ar',
      labels: { 'verify.subject': 'Bestätige {productName}', 'mail.greetingByName': 'Hallo {name} {code} {nothing}' },
    })
    const mail = templates.mail('verify', { ...verify, name: 'Ada' })
    expect(mail.subject).toBe('Bestätige Tom & Jerry')
    expect(mail.text).toContain('Hallo Ada 048213 {nothing}')
    expect(mail.html).toContain('<html lang="ar" dir="rtl">')
  })

  test('faults of these settings are told at once, all of them', () => {
    const make = () =>
      createTemplates({
        ...options,
        labels: { 'verify.sujbect': 'x' },
        locale: 'not a locale',
        brand: { ...options.brand, accentColor: 'red;}' },
        templates: '/nonexistent/folder',
      })
    expect(make).toThrow(
      expect.objectContaining({
        faults: [
          { setting: 'labels', message: 'there is no label verify.sujbect' },
          { setting: 'brand', message: 'accentColor must be #rgb or #rrggbb' },
          { setting: 'locale', message: 'must be a language tag such as en or pt-BR' },
          {
            setting: 'templates',
            message:
              'the folder /nonexistent/folder does not exist. A relative path begins where the application starts',
          },
        ],
      }),
    )
  })
})
