import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import * as z3 from 'zod/v3'
import { SettingsError } from '../../src/errors.js'
import { formFieldsOf } from '../../src/settings/form-fields.js'
import { readSettings } from '../../src/wiring/settings.js'

const secrets = {
  JWT_ACCESS_TOKEN_SECRET: 'K7v2mQ9xT4rW8yB3nF6jH1cZ5pL0sD7gAq2eU9iO4kX',
  JWT_REFRESH_TOKEN_SECRET: 'Zr8Vd3Qp6Lm1Xc9Bn4Hy7Ts2Kw5Fg0JaEu8Ri3Ot6Yl',
  baseUrl: 'http://localhost:3000',
}

/** What `init` says of a schema. */
function faultsOf(fields: object, registration = {}): string[] {
  try {
    readSettings({ ...secrets, registration: { fields, ...registration } }, { testing: false })
    return []
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    expect(new Set(error.faults.map(({ setting }) => setting))).toEqual(new Set(['registration.fields']))
    return error.faults.map(({ message }) => message)
  }
}

const plain = {
  hint: '',
  kind: 'text',
  required: true,
  mustTick: false,
  emptyIsNull: false,
  choices: [],
  min: null,
  max: null,
  whole: false,
  initial: null,
}

/** The same fields, described as both versions of zod describe them. */
const expected = [
  { ...plain, name: 'companyName', title: 'Company name', hint: 'As on your invoices.', min: 2, max: 80 },
  { ...plain, name: 'contact', title: 'Contact', kind: 'email', required: false },
  { ...plain, name: 'site', title: 'Site', kind: 'url', required: false },
  { ...plain, name: 'seats', title: 'Seats', kind: 'number', min: 1, max: 500, whole: true },
  { ...plain, name: 'share', title: 'Share', kind: 'number', emptyIsNull: true, required: false },
  { ...plain, name: 'terms', title: 'Terms', kind: 'checkbox', mustTick: true },
  { ...plain, name: 'news', title: 'News', kind: 'checkbox', required: false, initial: true },
  { ...plain, name: 'plan', title: 'Plan', kind: 'choice', choices: ['free', 'team'] },
  { ...plain, name: 'born_on', title: 'Born on', kind: 'date' },
]

describe('the fields that pages show', () => {
  test('of zod 4', () => {
    const schema = z.object({
      companyName: z.string().min(2).max(80).describe('As on your invoices.'),
      contact: z.email().optional(),
      site: z.url().optional(),
      seats: z.int().min(1).max(500),
      share: z.number().nullable(),
      terms: z.literal(true),
      news: z.boolean().default(true),
      plan: z.enum(['free', 'team']),
      born_on: z.coerce.date(),
    })
    expect(formFieldsOf(schema)).toEqual({ shown: expected, faults: [] })
    expect(formFieldsOf(schema.refine(() => true)).shown).toEqual(expected)
    expect(formFieldsOf(z.object({ since: z.iso.date() })).shown[0]).toMatchObject({ kind: 'date' })
    expect(formFieldsOf(z.object({ vat: z.string().meta({ title: 'VAT number' }) })).shown[0]).toMatchObject({
      title: 'VAT number',
    })
  })

  test('of zod 3', () => {
    const schema = z3.object({
      companyName: z3.string().min(2).max(80).describe('As on your invoices.'),
      contact: z3.string().email().optional(),
      site: z3.string().url().optional(),
      seats: z3.number().int().min(1).max(500),
      share: z3.number().nullable(),
      terms: z3.literal(true),
      news: z3.boolean().default(true),
      plan: z3.enum(['free', 'team']),
      born_on: z3.coerce.date(),
    })
    expect(formFieldsOf(schema)).toEqual({ shown: expected, faults: [] })
    expect(formFieldsOf(schema.superRefine(() => {})).shown).toEqual(expected)
    // What TypeScript makes of an enum with numbers.
    const tiers = { Low: 0, High: 1, 0: 'Low', 1: 'High' } as const
    const tier = z3.object({ tier: z3.nativeEnum(tiers), seen: z3.string().trim().brand('seen').readonly() })
    expect(formFieldsOf(tier).shown).toMatchObject([
      { kind: 'choice', choices: [0, 1] },
      { name: 'seen', kind: 'text', required: true },
    ])
  })

  test('of a library with Standard JSON Schema, and of arktype before it', () => {
    const json = {
      type: 'object',
      properties: {
        size: { anyOf: [{ const: 'S' }, { const: 'L' }] },
        age: { type: ['integer', 'null'] },
        agreed: { enum: [true, false] },
      },
      required: ['size'],
    }
    const standard = { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }) }
    const converter = { input: ({ target }: { target: string }) => (target === 'draft-2020-12' ? json : null) }
    const shown = [
      { name: 'size', kind: 'choice', choices: ['S', 'L'], required: true },
      { name: 'age', kind: 'number', required: false, whole: true },
      { name: 'agreed', kind: 'checkbox', required: false, mustTick: false },
    ]
    expect(formFieldsOf({ '~standard': { ...standard, jsonSchema: converter } }).shown).toMatchObject(shown)
    expect(formFieldsOf({ '~standard': standard, toJsonSchema: () => json }).shown).toMatchObject(shown)
  })

  test('leave out optional ones of other kinds, those of every account, and names that mean something in a form', () => {
    const schema = z.looseObject({
      tags: z.array(z.string()).optional(),
      address: z.object({ city: z.string() }).optional(),
      either: z.union([z.string(), z.number()]).optional(),
      since: z.date().optional(),
      email: z.string().optional(),
      _method: z.string().optional(),
      nickname: z.string().optional(),
    })
    expect(formFieldsOf(schema)).toMatchObject({ shown: [{ name: 'nickname' }], faults: [] })
  })
})

describe('a required field that no page can show', () => {
  const standard = { version: 1, vendor: 'other' } as const

  test.each([
    ['a list', z.object({ tags: z.array(z.string()) }), 'requires tags, which the register page cannot show'],
    ['an object', z3.object({ address: z3.object({}) }), 'requires address, which the register page cannot show'],
    ['of several types', z.object({ id: z.union([z.string(), z.number()]) }), 'requires id, which'],
    ['a Date of zod 4', z.object({ born: z.date() }), 'Use z.iso.date() or z.coerce.date()'],
    ['a Date of zod 3', z3.object({ born: z3.date() }), 'Use z.iso.date() or z.coerce.date()'],
    ['one that every account has', z.object({ name: z.string() }), 'requires name, which every account has already'],
    [
      'of a schema without JSON Schema',
      { '~standard': { ...standard, validate: () => ({ issues: [{ message: 'no' }] }) } },
      'toStandardJsonSchema',
    ],
  ])('is a fault at init: %s', (_, fields, sentence) => {
    expect(faultsOf(fields)).toEqual([expect.stringContaining(sentence)])
  })

  test('is none where nobody can register', () => {
    expect(faultsOf(z.object({ tags: z.array(z.string()) }), { enabled: false })).toEqual([])
  })

  test.each([
    ['accepts nothing sent', () => ({ value: {} })],
    ['answers later', async () => ({ issues: [] })],
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
  ])('is not assumed of a schema without JSON Schema that %s', (_, validate) => {
    expect(faultsOf({ '~standard': { ...standard, validate } })).toEqual([])
  })
})
