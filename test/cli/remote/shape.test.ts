import { describe, expect, test } from 'vitest'
import { contract } from '../../../src/cli/remote/contract-table.js'
import { narrowed, readShape, type Shape } from '../../../src/cli/remote/shape.js'

const read = (shape: Shape, value: unknown) => readShape(shape, { answer: value }, 'answer')

describe('an answer of the control API', () => {
  test('is read field by field, and fields that the contract does not name are left out', () => {
    const shape: Shape = { fields: { id: 'text', count: 'number', done: 'flag', names: { list: 'text' } } }
    const value = { id: 'a', count: 1, done: true, names: ['x'] }
    expect(read(shape, { ...value, more: 1 })).toEqual(value)
    expect(read({ ...shape, open: true }, { ...value, more: 1 })).toEqual({ ...value, more: 1 })
  })

  test('has null for a field that may be null and is missing', () => {
    const shape: Shape = { fields: { id: 'text', at: { orNull: 'text' } } }
    expect(read(shape, { id: 'a' })).toEqual({ id: 'a', at: null })
  })

  test.each([
    [{ fields: { id: 'text' } }, {}, '"id" is not a text'],
    [{ fields: { count: 'number' } }, { count: '1' }, '"count" is not a number'],
    [{ fields: { done: 'flag' } }, { done: 1 }, '"done" is not true or false'],
    [{ fields: { names: { list: 'text' } } }, { names: 'x' }, '"names" is not a list'],
    [{ fields: { items: { list: { fields: {} } } } }, { items: [1] }, '"items" is not a list of objects'],
    [{ fields: { detail: { map: 'fact' } } }, { detail: { a: [] } }, '"a" is not a fact'],
  ] satisfies [Shape, unknown, string][])('%j refuses %j: %s', (shape, value, message) => {
    expect(() => read(shape, value)).toThrow(message)
  })

  test('of an older server need not have the fields that a command does not read', () => {
    const only = { userId: true, email: 'or null', id: true } as const
    const { answer } = contract.sessions.list
    const page = { items: [{ id: 's', userId: 'u' }], nextCursor: null }
    const found = read(narrowed(answer ?? 'any', only), page)
    expect(found).toEqual({ items: [{ userId: 'u', email: null, id: 's' }], nextCursor: null })
    expect(JSON.stringify(found)).toContain('{"userId":"u","email":null,"id":"s"}')
  })
})
