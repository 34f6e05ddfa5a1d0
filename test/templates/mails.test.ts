import { describe, expect, test } from 'vitest'
import { readableOn } from '../../src/templates/assets.js'
import { createTemplates, type TemplateOptions } from '../../src/templates/handlebars.js'
import { sampleMails, samples } from '../../src/templates/samples.js'

const options: TemplateOptions = {
  templates: null,
  brand: { name: 'Acme', logoUrl: '/static/logo.png', accentColor: '#fd0' },
  labels: {},
  locale: 'en',
  origin: 'https://app.example',
  urlPath: '',
  basePath: '/auth',
}
const templates = createTemplates(options)
const mails = sampleMails(templates).map((mail): [string, typeof mail] => [mail.subject, mail])

describe('a mail program', () => {
  test.each(mails)('«%s» is small enough to be shown whole', (_subject, { html }) => {
    // Gmail cuts mails off at 102 KB, and drops a style element of more than 8192 characters.
    expect(Buffer.byteLength(html)).toBeLessThan(20_000)
    for (const [, css = ''] of html.matchAll(/<style>([\s\S]*?)<\/style>/g)) expect(css.length).toBeLessThan(8_192)
  })

  test.each(mails)(
    '«%s» carries its styles on the elements, for programs that read no style sheet',
    (_subject, { html }) => {
      const body = html.slice(html.indexOf('<body'))
      const bare = [...body.matchAll(/<(td|p|h1|a|img)\b[^>]*>/g)].filter(([tag]) => !/ style="[^"]+"/.test(tag))
      // What only Outlook for Windows reads stands in comments, and needs no style.
      expect(bare.map(([tag]) => tag)).toEqual(['<td>'])
      expect(body.match(/<!--\[if mso\]>/g)).toHaveLength(2)
    },
  )

  test.each(mails)('«%s» is dark where its reader likes it dark, and says so', (_subject, { html }) => {
    expect(html).toContain('<meta name="color-scheme" content="light dark">')
    expect(html).toContain('@media (prefers-color-scheme: dark)')
    expect(html).toMatch(/\[data-ogsc\] \.ink \{ color: #e8eaee !important; \}/)
    // Every text on a surface that turns dark has a class that turns it light.
    const body = html.slice(html.indexOf('<body'))
    const dark = [...body.matchAll(/<(?:td|h1|p|a)\b[^>]*color: #(?:1c2430|5b6472)[^>]*>/g)].map(([tag]) => tag)
    const light = /class="(?:[\w-]+ )*(?:ink|quiet|plain-link|fact-name|foot|edge|button)\b|<td style|dir="ltr"/
    expect(dark.filter((tag) => !light.test(tag))).toEqual([])
  })

  test.each(mails)('«%s» loads nothing but the logo, and reads well without it', (_subject, { html }) => {
    expect(html.match(/<img [^>]*>/g)).toEqual([
      expect.stringMatching(/ src="https:\/\/app\.example\/static\/logo\.png" alt="Acme" height="32"/),
    ])
    expect(html).not.toMatch(/url\(|@import|@font-face|<link|<script|<form/)
  })

  test.each(mails)('«%s» says language and direction also where the html element is dropped', (_subject, { html }) => {
    expect(html.match(/lang="en" dir="ltr"/g)).toHaveLength(2)
  })

  test('shows a line of its own under the subject in the list, not the beginning of the greeting', () => {
    const lines = mails.map(
      ([, { html }]) => /<div class="preheader"[^>]*display: none[^>]*>([^&]+)&#847;/.exec(html)?.[1],
    )
    for (const line of lines) expect(line).toMatch(/^\S.{15,90}$/)
    expect(lines.join(' ')).not.toMatch(/\{|\d{6}/)
  })
})

describe('the button', () => {
  test.each(['#000', '#ffffff', '#1f5fd1', '#fd0', '#777777', '#0a7'])('can be read on %s', (accentColor) => {
    const { html } = createTemplates({ ...options, brand: { ...options.brand, accentColor } }).mail(
      'otp',
      samples['mail/otp'] ?? {},
    )
    const button = /<td class="button[^"]*"[^>]*bgcolor="(#\w+)"[^>]*><a [^>]*color: (#\w+);"/.exec(html)
    expect(button?.slice(1)).toEqual([accentColor, readableOn(accentColor)])
  })
})

test('text and HTML part say the same', () => {
  for (const [subject, { text, html }] of mails) {
    const words = (part: string) => part.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
    const shown = words(html.slice(html.indexOf('<h1')).replaceAll('&#x3D;', '=').replaceAll('&#x27;', "'"))
    const lines = text.split('\n').filter((line) => line !== '' && line !== '-- ')
    for (const line of lines) expect(shown, subject).toContain(words(line).replace(/^(Device|Time): /, ''))
  }
})
