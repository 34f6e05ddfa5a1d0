import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { SettingsError } from '../../src/errors.js'
import { builtIn } from '../../src/templates/built-in.js'
import { createTemplates } from '../../src/templates/handlebars.js'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function write(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-templates-'))
  folders.push(folder)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

function make(files: Readonly<Record<string, string | Buffer>>, locale = 'en', folder = write(files)) {
  return createTemplates({
    templates: folder,
    brand: { name: 'Acme', logoUrl: null, accentColor: null },
    labels: {},
    locale,
    origin: 'https://app.example',
    urlPath: '',
    basePath: '/auth',
  })
}

function faultsOf(files: Readonly<Record<string, string | Buffer>>): string[] {
  try {
    make(files)
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    expect(new Set(error.faults.map(({ setting }) => setting))).toEqual(new Set(['templates']))
    return error.faults.map(({ message }) => message)
  }
  return []
}

const verify = { name: 'Ada', url: 'https://app.example/?token=a', code: '048213' }

describe('a file of the owner’s', () => {
  test('replaces ours of the same name and leaves the others alone', () => {
    const templates = make({
      'mail/verify/subject.txt.hbs': '  Your code\r\nis {{code}}  ',
      'mail/layout.html.hbs': '<div>{{title}}: {{> @partial-block}}</div>',
      '.DS_Store': Buffer.from([0xff, 0xfe]),
      'mail/.keep': '',
    })
    const mail = templates.mail('verify', verify)
    expect(mail.subject).toBe('Your code is 048213')
    expect(mail.html).toMatch(/^<div>Confirm your email address for Acme: /)
    expect(mail.text).toContain('Hello Ada,')
    expect(templates.page('error', {})).toContain('<!doctype html>')
  })

  test('may be a stylesheet, under a name of its own', () => {
    const templates = make({ 'assets/latchkey.css': 'body { color: red }' })
    const fileName = /assets\/(latchkey\.\S+\.css)"/.exec(templates.page('error', {}))?.[1] ?? ''
    expect(templates.asset(fileName)?.body).toMatch(/^body \{ color: red \}\n/)
  })

  test('escapes in HTML and not in text, also through a layout that both kinds use', () => {
    const templates = make({
      'mail/verify/body.txt.hbs': '{{#> mail/layout.txt}}{{url}}{{/mail/layout.txt}}',
      'mail/verify/body.html.hbs': '{{#> mail/layout.html title=url}}{{url}}{{/mail/layout.html}}',
    })
    const url = 'https://app.example/?a=<b>&c'
    for (const _twice of [1, 2]) {
      const { text, html } = templates.mail('verify', { ...verify, url })
      expect(text).toContain(url)
      expect(html).toContain('https://app.example/?a&#x3D;&lt;b&gt;&amp;c')
      expect(html).not.toContain('<b>&c')
    }
  })

  test('may use every value of its page, blocks and block parameters', () => {
    const templates = make({
      'pages/mailbox.hbs':
        '{{#each mails as |mail|}}{{@index}}{{mail.to}}{{@root.basePath}}{{../productName}}{{/each}}',
    })
    expect(templates.page('mailbox', { mails: [{ to: 'a@app.example' }] })).toBe('0a@app.example/authAcme')
  })

  test('may be some labels of a language of ours: the others stay in that language', () => {
    const templates = make({ 'labels/de.json': '{"mail.greeting":"Moin,"}' }, 'de-AT')
    const { text } = templates.mail('new-device', { device: '', at: '2026-01-31T12:00:00Z' })
    expect(text).toMatch(/^Moin,\n/)
    expect(text).toContain('Zeit: 31. J')
    const austrian = make({ 'labels/de-AT.json': '{"mail.greeting":"Servus,"}' }, 'de-AT')
    expect(austrian.mail('account-exists', { url: 'https://app.example/' }).text).toMatch(/^Servus,\n/)
  })

  test('may be a language that we do not have', () => {
    const templates = make({ 'labels/tlh.json': '{"mail.greeting":"nuqneH,"}' }, 'tlh')
    const { text, html } = templates.mail('account-exists', { url: 'https://app.example/' })
    expect(text).toMatch(/^nuqneH,\n\nWe received a request/)
    expect(html).toContain('<html lang="tlh" dir="ltr">')
  })

  test('may be a part that several mails share, and goes out as it is written', () => {
    const templates = make({
      'mail/button.html.hbs': '<style>a{}</style><a class="button" href="{{url}}">{{caption}}!</a>',
    })
    for (const name of ['verify', 'otp']) {
      const { html } = templates.mail(name, { ...verify, lifetimeMinutes: '10' })
      expect(html).toMatch(
        /<style>a\{\}<\/style><a class="button" href="https:\/\/app\.example\/\?token&#x3D;a">[^<]+!<\/a>/,
      )
    }
  })

  test('ours pass the same checks', () => {
    expect(faultsOf({ ...builtIn })).toEqual([])
  })
})

describe('ATK-111 a broken folder stops the start', () => {
  test.each([
    ['an open tag', 'Hello\n{{name', "mail/verify/body.txt.hbs:2: Expecting 'ID', 'STRING'"],
    ['a block that is not closed', '{{#if name}}\n\nx\n', 'mail/verify/body.txt.hbs:4: Expecting'],
    [
      'a block that is closed as another',
      '\n{{#if name}}x{{/each}}',
      "mail/verify/body.txt.hbs:2: if doesn't match each",
    ],
    ['an unknown value', 'a\nb\n{{nmae}}', 'mail/verify/body.txt.hbs:3: there is no value nmae here'],
    [
      'one on a branch that no sample takes',
      '{{#unless name}}\n{{nmae}}{{/unless}}',
      'mail/verify/body.txt.hbs:2: there is no value nmae here',
    ],
    ['a value that only layouts get', '{{title}}', 'mail/verify/body.txt.hbs:1: there is no value title here'],
    ['a value of another mail', '{{device}}', 'mail/verify/body.txt.hbs:1: there is no value device here'],
    [
      'an unknown helper',
      '\n{{shout name}}',
      'mail/verify/body.txt.hbs:2: You specified knownHelpersOnly, but used the unknown helper shout',
    ],
    [
      'the console',
      '{{log code}}',
      'mail/verify/body.txt.hbs:1: You specified knownHelpersOnly, but used the unknown helper log',
    ],
    ['an unknown label', "{{label 'verify.sujbect'}}", 'mail/verify/body.txt.hbs:1: there is no label verify.sujbect'],
    [
      'an unknown layout',
      '{{#> pages/other}}x{{/pages/other}}',
      'mail/verify/body.txt.hbs:1: there is no layout pages/other',
    ],
    [
      'the layout of the other kind',
      '{{#> mail/layout.html title=code}}x{{/mail/layout.html}}',
      'mail/verify/body.txt.hbs:1: there is no layout mail/layout.html',
    ],
    [
      'a layout chosen by a value',
      '{{> (lookup . "name")}}',
      'mail/verify/body.txt.hbs:1: a layout must be named, not looked up',
    ],
  ])('ATK-111 %s is told with file and line', (_what, text, message) => {
    const faults = faultsOf({ 'mail/verify/body.txt.hbs': text })
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(message)
    expect(faults[0]).not.toContain('\n')
  })

  test('ATK-111 what only shows in use is found by a trial with sample values', () => {
    expect(faultsOf({ 'mail/otp/body.txt.hbs': '{{#with name}}{{code}}{{/with}}' })).toEqual([
      expect.stringContaining('mail/otp'),
    ])
  })

  test('ATK-111 every fault is told at once, also of names and contents that are none', () => {
    const faults = faultsOf({
      'mail/verifiy/body.txt.hbs': 'x',
      'pages/error.html': 'x',
      'mail/verify/subject.txt.hbs': Buffer.from([0xc3, 0x28]),
      'pages/error.hbs': '{{#if}',
      'mail/layout.txt.hbs': '{{nothing}}',
    })
    expect(faults).toEqual([
      'mail/verifiy/body.txt.hbs: there is no template of this name',
      'mail/verify/subject.txt.hbs: cannot be read as UTF-8 text',
      'pages/error.html: there is no template of this name',
      'mail/layout.txt.hbs:1: there is no value nothing here',
      expect.stringMatching(/^pages\/error\.hbs:1: /),
    ])
  })

  test.each([
    ['an unknown label', '{\n"mail.greeting": "Hi,",\n"mail.greting": "Hi,"}', ':3: there is no label mail.greting'],
    ['an unknown value', '{"mail.greetingByName":\n"Hi {nmae},"}', ':1: there is no value nmae anywhere'],
    ['a text that is none', '{"mail.greeting": 1}', ': must be a JSON object of texts'],
    ['a list', '[]', ': must be a JSON object of texts'],
    ['no end', '{\n"mail.greeting":', ':2: must be a JSON object of texts'],
    ['nothing', '', ':1: must be a JSON object of texts'],
    ['a comma too many', '{\n"mail.greeting": "Hi",\n}', 'must be a JSON object of texts'],
    ['a prototype', '{"__proto__": "x"}', ':1: there is no label __proto__'],
  ])('ATK-111 labels with %s are told, in the language in use or not', (_what, text, message) => {
    for (const file of ['labels/en.json', 'labels/fr.json', 'labels/tlh.json']) {
      const faults = faultsOf({ [file]: text })
      expect(faults).toHaveLength(1)
      expect(faults[0]).toContain(message)
      expect(faults[0]).toMatch(new RegExp(`^${file}`))
    }
  })

  test('ATK-111 labels under a name that no locale looks for are told', () => {
    expect(faultsOf({ 'labels/pt-br.json': '{}', 'labels/german.txt': '', 'labels/DE.json': '{}' })).toEqual([
      'labels/DE.json: there is no template of this name',
      'labels/german.txt: there is no template of this name',
      'labels/pt-br.json: there is no template of this name',
    ])
  })

  test('ATK-111 a folder that is a file is a fault', () => {
    const folder = write({ 'pages/error.hbs': 'x' })
    expect(() =>
      createTemplates({
        templates: join(folder, 'pages/error.hbs'),
        brand: { name: 'Acme', logoUrl: null, accentColor: null },
        labels: {},
        locale: 'en',
        origin: 'https://app.example',
        urlPath: '',
        basePath: '/auth',
      }),
    ).toThrow(`templates: ${join(folder, 'pages/error.hbs')} is not a folder`)
  })

  test('that is missing is named by its whole path', () => {
    const named = join(process.cwd(), 'no-such-templates')
    expect(() => make({}, 'en', './no-such-templates')).toThrow(`templates: the folder ${named} does not exist`)
  })
})
