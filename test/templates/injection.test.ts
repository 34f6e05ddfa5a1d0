import PostalMime from 'postal-mime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSmtpMailer } from '../../src/mail/nodemailer.js'
import { createEnvironment, lateHandlebars } from '../../src/templates/environment.js'
import { createTemplates } from '../../src/templates/handlebars.js'
import { plainValues } from '../../src/templates/values.js'
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.js'
import { readVectors } from '../support/vectors.js'

interface TemplateCases {
  cases: {
    id: string
    template: string
    context: Record<string, unknown>
    options?: { noEscape?: boolean; strict?: boolean }
    expected_output: string | null
  }[]
  ast_object_case: { input: object }
}

interface HeaderCases {
  cases: { where: string; value: string }[]
}

const { cases, ast_object_case: syntaxTree } = readVectors<TemplateCases>('template-injection')
const headerCases = readVectors<HeaderCases>('header-injection').cases

/** Stricter than handlebars alone: what there is answered with nothing, or by chance, is an error here. */
const refused = [
  'ctor-chain',
  'with-ctor',
  'helperMissing',
  'log-helper',
  'partial-user',
  'raw-block',
  'missing-strict',
]

describe('ATK-111 templates', () => {
  test.each(cases)('ATK-111 $id', ({ id, template, context, options, expected_output: expected }) => {
    const environment = createEnvironment(lateHandlebars().get(), options?.noEscape ? 'none' : 'html', {})
    const render = () => environment.compile(template)(plainValues(context))
    if (refused.includes(id)) expect(render).toThrow()
    else expect(render()).toBe(expected)
  })

  test('ATK-111 a syntax tree is no template', () => {
    const environment = createEnvironment(lateHandlebars().get(), 'html', {})
    for (const compile of [environment.compile, environment.inspect]) {
      expect(() => Reflect.apply(compile, null, [syntaxTree.input])).toThrow('A template must be a string')
    }
  })

  test('ATK-111 values are plain data: no functions, no getters, no classes, no way to a prototype', () => {
    class Account {
      secret = 'x'
    }
    for (const value of [() => 'x', new Account(), new Date(0), Symbol('x'), 1n, { toHTML: () => '<b>' }]) {
      expect(() => plainValues({ value })).toThrow('is no plain data')
    }
    const copy = plainValues(JSON.parse('{"__proto__": {"admin": true}, "list": [{"a": null}]}'))
    expect(Object.hasOwn(copy, '__proto__')).toBe(true)
    expect(copy.admin).toBeUndefined()
    expect(copy.list).toEqual([{ a: null }])
  })
})

describe('ATK-111 what a stranger typed, in a mail', () => {
  const templates = createTemplates({
    templates: null,
    brand: { name: 'Acme', logoUrl: null, accentColor: null },
    labels: {},
    locale: 'en',
    origin: 'https://app.example',
    urlPath: '',
    basePath: '/auth',
  })
  const url = 'https://app.example/auth/verify-email?token=abc'
  const plain = templates.mail('verify', { name: '', url, code: '048213' })
  let server: TestSmtpServer
  beforeAll(async () => {
    server = await startSmtpServer()
  })
  afterAll(() => server.close())

  const names = headerCases.filter(({ where }) => where.startsWith('register.name')).map(({ value }) => value)

  test.each([
    ...names,
    '<script>alert(1)</script>',
    'win money at https://evil.test now',
    'win money at evil.test now',
    'www.evil.test',
    'call 0800 123456 now',
    'your code is 999999',
    '９９９９９９',
    '1 2 3 4 5 6',
    'a'.repeat(65),
    '{{code}}',
    'Ada\u202egnp.exe',
    '{code}',
  ])('ATK-111 the name %j leaves the mail as it is but for a greeting on one line', async (name) => {
    const mail = templates.mail('verify', { name, url, code: '048213' })
    const mailer = createSmtpMailer({ from: { name: 'Acme', address: 'hello@acme.example' }, transport: server.url })
    await mailer.send({ to: 'ada@app.example', ...mail })
    await mailer.close()

    const arrived = server.mails.at(-1)
    const { headers } = await PostalMime.parse(arrived?.raw ?? '')
    expect(headers.map(({ key }) => key).sort()).toEqual([
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ])
    expect(arrived?.envelope.to).toEqual(['ada@app.example'])
    expect(arrived?.subject).toBe(plain.subject)
    expect(arrived?.text?.split('\n').slice(1).join('\n').trim()).toBe(
      plain.text.split('\n').slice(1).join('\n').trim(),
    )
    expect(arrived?.text?.match(/https?:\/\/\S+/g)).toEqual([url])
    expect(arrived?.text?.match(/\p{N}{6,}/gu)).toEqual(['048213'])
    expect(arrived?.html).not.toMatch(/<script|<h1>phish|evil\.test/)
    expect(arrived?.text?.split('\n')[0]).toMatch(/^Hello( [\p{L} \u200c]+)?,$/u)
  })

  test.each([
    'Ada Lovelace',
    "Conan O'Brien",
    'Jean‐Luc Picard',
    'J. R. R. Tolkien',
    'Smith, John (Jr.)',
    'Tom & Jerry',
    'Żółć 日本',
    'Louis 14',
    'علی‌رضا',
  ])('the name %j greets', (name) => {
    expect(templates.mail('verify', { name, url, code: '048213' }).text).toContain(`Hello ${name},\n`)
  })

  test.each(headerCases.filter(({ where }) => where === 'user-agent'))(
    'ATK-111 the user agent $value is a device without words of its own',
    ({ value }) => {
      const { text } = templates.mail('refresh-reuse', { device: value, at: '2026-01-01T00:00:00Z' })
      expect(text).toContain('Device: Unknown device\n')
      expect(text).not.toContain('X-Injected')
    },
  )
})
