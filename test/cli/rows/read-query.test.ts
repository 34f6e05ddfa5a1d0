import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readQuery } from '../../../src/cli/rows/read-query.js'
import { ToolError } from '../../../src/cli/tool-error.js'

const date = (text: string) => ({ $date: text })
const filterOf = (text: string) => readQuery(text).filter

describe('the URL language', () => {
  test.each([
    ['name=Ally', { name: 'Ally' }],
    ['age=23', { age: 23 }],
    ['x=1e3', { x: 1000 }],
    ['x=0x10', { x: 16 }],
    ['x=%20', { x: 0 }],
    ['age>23', { age: { $gt: 23 } }],
    ['age>=23', { age: { $gte: 23 } }],
    ['age<23', { age: { $lt: 23 } }],
    ['age<=23', { age: { $lte: 23 } }],
    ['age>1&age<5', { age: { $gt: 1, $lt: 5 } }],
    ['name!=x', { name: { $ne: 'x' } }],
    ['name=!x', { name: { $ne: 'x' } }],
    ['name=a,b', { name: { $in: ['a', 'b'] } }],
    ['name=a&name=b', { name: { $in: ['a', 'b'] } }],
    ['name!=a,b', { name: { $nin: ['a', 'b'] } }],
    ['name!=a&name!=b', { name: { $nin: ['a', 'b'] } }],
    ['name', { name: { $exists: true } }],
    ['name=', { name: { $exists: true } }],
    ['!name', { name: { $exists: false } }],
    ['name=!', { name: { $exists: false } }],
    ['name=/^po/', { name: { $regex: '^po' } }],
    ['name=/^po/i', { name: { $regex: '^po', $options: 'i' } }],
    ['name!=/x/i', { name: { $not: { $regex: 'x', $options: 'i' } } }],
    ['name=/^a{1,2}$/', { name: { $regex: '^a{1,2}$' } }],
    ['name="23"', { name: '23' }],
    ["ok='true'", { ok: 'true' }],
    ['name="a,b",c', { name: { $in: ['a,b', 'c'] } }],
    ['name=a%2Cb', { name: 'a,b' }],
    ['ok=true', { ok: true }],
    ['ok=false', { ok: false }],
    ['ok=null', { ok: 'null' }],
    ['d=2024-01-02', { d: date('2024-01-02T00:00:00.000Z') }],
    ['d>2024-01-02T03:04:05Z', { d: { $gt: date('2024-01-02T03:04:05.000Z') } }],
    ['d=2024-01-02T03:04:05.5%2B02:00', { d: date('2024-01-02T01:04:05.500Z') }],
    ['d=2024-01-02T03:04', { d: date('2024-01-02T03:04:00.000Z') }],
    ['d=2024', { d: 2024 }],
    ['d=2024-02-30', { d: '2024-02-30' }],
    ['addr.city=Oslo', { 'addr.city': 'Oslo' }],
    ['age:mod=2,0', { age: { $mod: [2, 0] } }],
    ['tags:all=a,b', { tags: { $all: ['a', 'b'] } }],
    ['a:exists=true', { a: { $exists: true } }],
    ['name[$ne]=x', { name: { $ne: 'x' } }],
    ['addr[city]=Oslo', { addr: { city: 'Oslo' } }],
    ['tag[]=a&tag[]=b', { tag: { $in: ['a', 'b'] } }],
    ['age>1&age>2', { age: { $gt: 1 }, $and: [{ age: { $gt: 2 } }] }],
    ['a=1&a>0', { a: { $eq: 1, $gt: 0 } }],
    ["name=O'Brien", { name: "O'Brien" }],
    ['?a=1&&b=2', { a: 1, b: 2 }],
    ['', {}],
  ])('%s', (text, filter) => {
    expect(filterOf(text)).toEqual(filter)
  })

  test.each([
    ['sort=-a,b', { sort: { a: -1, b: 1 } }],
    ['fields=a,b', { fields: { a: 1, b: 1 } }],
    ['omit=a', { fields: { a: 0 } }],
    ['limit=5&offset=10', { limit: 5, offset: 10 }],
  ])('%s is no condition', (text, options) => {
    expect(readQuery(text)).toEqual({ filter: {}, ...options })
  })

  test.each([
    ['age>', 'cannot be read at: age>'],
    ['=x', 'cannot be read at: =x'],
    ['a:op=', 'cannot be read'],
    ['!age>3', 'cannot be read'],
    ['__proto__=1', 'cannot be read'],
    ['a[__proto__]=1', 'cannot be read'],
    ['name=100%', 'a % that begins no escape'],
    ['name=/[/', 'no regular expression'],
    ['limit=-1', 'whole number'],
    ['limit=x', 'whole number'],
    ['limit=1&limit=2', 'limit twice'],
    ['sort=', 'names no field'],
    ['sort=-', 'names no field'],
    ['fields=a&omit=b', 'exclude each other'],
  ])('%s is a usage error', (text, message) => {
    expect(() => readQuery(text)).toThrow(new RegExp(message))
  })
})

describe('a filter in JSON', () => {
  test('is taken as it is', () => {
    const filter = { name: 'Ally', age: { $gt: 3 }, $or: [{ a: 1 }, { b: null }] }
    expect(readQuery(` ${JSON.stringify(filter)}\n`)).toEqual({ filter })
  })

  test.each(['{', '{"a":1}}', '{a:1}'])('%s is a usage error', (text) => {
    expect(() => readQuery(text)).toThrow('no JSON object')
  })
})

test('any text is read, or is a usage error', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'a',
      'b.c',
      '=',
      '!=',
      '>',
      '<=',
      '!',
      ':in=',
      '&',
      ',',
      '"',
      "'",
      '/',
      '[',
      ']',
      '%',
      '%20',
      '{',
      '}',
      '?',
    ),
    fc.constantFrom(
      '__proto__',
      'constructor',
      'sort=',
      'limit=',
      '$where',
      'true',
      '2024-01-02',
      '1e999',
      '\u0000',
      '\ud800',
    ),
    fc.string({ unit: 'binary', maxLength: 5 }),
  )
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, (given) => {
      try {
        const query = readQuery(given)
        expect(JSON.parse(JSON.stringify(query))).toEqual(query)
        expect(Object.getPrototypeOf(query.filter)).toBe(Object.prototype)
      } catch (error) {
        if (!(error instanceof ToolError)) throw error
        expect(error.exitCode).toBe(2)
      }
    }),
    { numRuns: 1000 },
  )
})

/** The reader that runs in applications, of codehooks-js. It is no part of its types. */
const runtime: { default(query: object): { criteria: object } } = await import(
  /* @vite-ignore */ `codehooks-js/crudlify/lib/query/q2m/${'q2m'}.mjs`
)

test('a condition means what it means in a URL of an application', () => {
  const field = fc.constantFrom('name', 'age', 'addr.city', 'x_1')
  const sign = fc.constantFrom('=', '!=', '>', '>=', '<', '<=', ':size=', ':mod=')
  const text = fc.stringMatching(/^[A-Za-z][A-Za-z ]{0,8}$/)
  const value = fc.oneof(
    text,
    fc.integer().map(String),
    fc.constantFrom(
      'true',
      'false',
      'null',
      '2024',
      '2024-01-02',
      '2024-01-02T03:04:05Z',
      '0x10',
      '1e3',
      '"23"',
      "'true'",
      '/^po/',
      '/x/i',
    ),
  )
  fc.assert(
    fc.property(field, sign, value, (name, operator, given) => {
      const part = `${name}${operator}${given}`
      // As a URL is parsed: up to the first `=` is the name.
      const [, before = part, after = ''] = /^([^=]*)=(.*)$/s.exec(part) ?? []
      const isPatternElsewhere = given.startsWith('/') && operator !== '=' && operator !== '!='
      fc.pre(!isPatternElsewhere)
      expect(filterOf(part)).toEqual(plain(runtime.default({ [before]: after }).criteria))
    }),
    { numRuns: 1000 },
  )
})

/** Dates and patterns as JSON writes them. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return { $date: value.toISOString() }
  if (value instanceof RegExp) return { $regex: value.source, ...(value.flags !== '' && { $options: value.flags }) }
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
}
