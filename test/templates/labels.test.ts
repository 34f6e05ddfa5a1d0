import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { builtIn } from '../../src/templates/built-in.js'
import { createTemplates, type TemplateOptions } from '../../src/templates/handlebars.js'
import { defaultLabels, placeholdersIn } from '../../src/templates/labels.js'
import { samples } from '../../src/templates/samples.js'
import { labelsFor } from '../../src/templates/translations.js'
import { testAuth } from '../support/auth.js'

const folder = fileURLToPath(new URL('../../templates/labels', import.meta.url))
const languages = readdirSync(folder)
  .map((file) => file.replace(/\.json$/, ''))
  .filter((language) => language !== 'en')

const options: TemplateOptions = {
  templates: null,
  brand: { name: 'Acme', logoUrl: null, accentColor: null },
  labels: {},
  locale: 'en',
  origin: 'https://app.example',
  urlPath: '',
  basePath: '/auth',
}

describe('the languages that come with the package', () => {
  test('are these', () => {
    expect(languages).toEqual(['de', 'es', 'fr', 'ja', 'no'])
  })

  test.each(languages)(
    '%s has every text but those of admin pages, no other, and the same values in each',
    (language) => {
      const texts: Record<string, string> = JSON.parse(readFileSync(`${folder}/${language}.json`, 'utf8'))
      const names = Object.keys(defaultLabels)
      const values = (text = '') => placeholdersIn(text).sort().join()
      expect({
        missing: names.filter((name) => !Object.hasOwn(texts, name) && !name.startsWith('admin.')),
        unknown: Object.keys(texts).filter((name) => !names.includes(name)),
        empty: names.filter((name) => texts[name]?.trim() === ''),
        otherValues: names.filter((name) => name in texts && values(texts[name]) !== values(defaultLabels[name])),
      }).toEqual({ missing: [], unknown: [], empty: [], otherValues: [] })
    },
  )

  test.each([...languages, 'en'])('%s has printable texts, in which every brace belongs to a value', (language) => {
    const texts: Record<string, string> = JSON.parse(readFileSync(`${folder}/${language}.json`, 'utf8'))
    const named = Object.entries(texts).map(([name, text]) => ({
      name,
      // Cc: control characters, Cf: invisible ones, Co and Cn: no characters; and what a wrong decoding leaves.
      unprintable: text.match(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\uFFFD]/gu) ?? [],
      braces: text.replaceAll(/\{\w+\}/g, '').match(/[{}]/g) ?? [],
      unknown: placeholdersIn(text).filter((value) => !placeholdersIn(defaultLabels[name] ?? '').includes(value)),
    }))
    expect(
      named.filter(({ unprintable, braces, unknown }) => [unprintable, braces, unknown].flat().length > 0),
    ).toEqual([])
  })

  test.each([...languages, 'en'])('%s writes mails that programs can read', (locale) => {
    const templates = createTemplates({ ...options, locale }, (names) => expect(names).toEqual([]))
    for (const [name, sample] of Object.entries(samples).filter(([name]) => name.startsWith('mail/'))) {
      const { subject, text, html } = templates.mail(name.slice('mail/'.length), sample)
      expect(subject, name).toMatch(/^[^\n]{1,120}$/)
      expect(subject + text + html, name).not.toMatch(/\{\w+\}|undefined/)
      // Applications and tests look for these (product promise: first URL, only number of 6 to 8 digits).
      expect(/https?:\/\/\S+/.exec(text)?.[0], name).toBe(sample.url)
      const digits = text.replaceAll(String(sample.url), '').match(/(?<!\d)\d{6,8}(?!\d)/g)
      expect(digits, name).toEqual(sample.code === undefined ? null : [sample.code])
    }
  })

  test('tell times and devices in the language of the mail', () => {
    const values = { device: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0', at: '2026-11-21T06:12:00.000Z' }
    const text = (locale: string, device = values.device) =>
      createTemplates({ ...options, locale }).mail('new-device', { ...values, device }).text
    expect(text('de')).toContain('Firefox unter Linux\n')
    expect(text('de')).toContain('21. November 2026 um 06:12:00 UTC\n')
    expect(text('fr', 'curl')).toContain('Appareil inconnu\n')
    expect(text('ja')).toContain('2026年11月21日')
    expect(text('nb')).toContain('21. november 2026')
  })
})

describe('which text a locale gets', () => {
  const ours = { 'labels/pt.json': '{"mail.greeting":"Olá,","mail.device":"Aparelho:"}', ...builtIn }
  const greeting = (locale: string, owner: Readonly<Record<string, string>> = {}) =>
    labelsFor(locale, { ours, owner }).labels['mail.greeting']

  test.each([
    ['en-GB', 'Hello,'],
    ['pt', 'Olá,'],
    ['pt-BR', 'Olá,'],
    ['nb', greeting('no')],
    ['nn-NO', greeting('no')],
    ['tlh', 'Hello,'],
  ])('%s greets with %s', (locale, text) => {
    expect(greeting(locale)).toBe(text)
  })

  test('the owner’s over ours over the English one, the nearer file over the farther', () => {
    const owner = {
      'labels/pt.json': '{"mail.greeting":"Oi,"}',
      'labels/pt-BR.json': '{"mail.time":"Quando:"}',
      'labels/en.json': '{"mail.footer":"Bye.","mail.greeting":"Hi,"}',
    }
    const { labels, missing } = labelsFor('pt-BR', { ours, owner })
    expect([labels['mail.greeting'], labels['mail.device'], labels['mail.time'], labels['mail.footer']]).toEqual([
      'Oi,',
      'Aparelho:',
      'Quando:',
      'Bye.',
    ])
    expect(missing).toContain('mail.footer')
    expect(missing).not.toContain('mail.time')
    expect(greeting('en-US', owner)).toBe('Hi,')
    expect(greeting('de', owner)).toBe(greeting('de'))
  })

  test('English never lacks a text', () => {
    for (const locale of ['en', 'en-US']) expect(labelsFor(locale, { ours, owner: {} }).missing).toEqual([])
  })
})

describe('texts that a language lacks', () => {
  test('are told in one warning at the start, for a language without a file too', async () => {
    const warnings: unknown[] = []
    const logger = { warn: (fields: object) => void warnings.push(fields), error: () => {} }
    const names = Object.keys(defaultLabels).filter((name) => !name.startsWith('admin.'))
    await testAuth({ locale: 'tlh', labels: { 'mail.greeting': 'nuqneH,' }, logger })
    expect(warnings).toEqual([
      {
        event: 'labels_missing',
        locale: 'tlh',
        count: names.length - 1,
        names: names.filter((name) => name !== 'mail.greeting'),
      },
    ])
  })

  test('are none in a language of ours', async () => {
    const warnings: unknown[] = []
    await testAuth({
      locale: 'de-AT',
      logger: { warn: (fields: object) => void warnings.push(fields), error: () => {} },
    })
    expect(warnings).toEqual([])
  })
})
