import { describe, expect, test } from 'vitest'
import {
  choiceIn,
  type Fields,
  fieldsIn,
  flagIn,
  listIn,
  nullOr,
  numberIn,
  readFields,
  textIn,
  textsIn,
  WrongField,
} from '../../src/lib/json-fields.js'

const colours = ['red', 'blue'] as const

describe('readFields', () => {
  test('reads what the text holds', () => {
    const text =
      '{"name":"Ada","age":36,"admin":false,"colour":"red","tags":["a"],"home":{"city":"London"},"none":null}'
    const read = (fields: Fields) => ({
      name: textIn(fields, 'name'),
      age: numberIn(fields, 'age'),
      admin: flagIn(fields, 'admin'),
      colour: choiceIn(fields, 'colour', colours),
      tags: textsIn(fields, 'tags'),
      city: textIn(fieldsIn(fields, 'home'), 'city'),
      none: nullOr(fields, 'none', textIn),
      nick: nullOr(fields, 'name', textIn),
    })
    const rest = { colour: 'red', tags: ['a'], city: 'London', none: null, nick: 'Ada' }
    expect(readFields(text, read)).toEqual({ name: 'Ada', age: 36, admin: false, ...rest })
  })

  test.each([null, '', 'no JSON', 'null', '7', '"text"', '[]', '{"name":7}', '{}'])('reads nothing of %s', (text) => {
    expect(readFields(text, (fields) => textIn(fields, 'name'))).toBeNull()
  })

  test('passes on what is no fault of the text', () => {
    const failing = () => {
      throw new TypeError('ours')
    }
    expect(() => readFields('{}', failing)).toThrow(new TypeError('ours'))
  })
})

const others = [undefined, null, 'x', 7, true, [], {}, [7], ['x'], [{}]]

test.each([
  ['a text', textIn, (value: unknown) => typeof value === 'string'],
  ['a number', numberIn, (value: unknown) => typeof value === 'number'],
  ['true or false', flagIn, (value: unknown) => typeof value === 'boolean'],
  ['an object', fieldsIn, (value: unknown) => JSON.stringify(value) === '{}'],
  ['texts', textsIn, (value: unknown) => ['[]', '["x"]'].includes(JSON.stringify(value))],
])('a field that is not %s is refused by its name', (_, read, fits) => {
  for (const value of others) {
    if (fits(value)) expect(read({ field: value }, 'field')).toBe(value)
    else expect(() => read({ field: value }, 'field')).toThrow(WrongField)
  }
})

test('a choice is one of the list', () => {
  expect(() => choiceIn({ colour: 'green' }, 'colour', colours)).toThrow('"colour" is not one of red, blue')
})

test('a list holds objects, each of which fits', () => {
  const read = (item: Fields) => numberIn(item, 'n')
  expect(listIn({ items: [{ n: 1 }, { n: 2 }] }, 'items', read)).toEqual([1, 2])
  expect(() => listIn({ items: [{ n: 1 }, { n: '2' }] }, 'items', read)).toThrow(WrongField)
  expect(() => listIn({ items: [7] }, 'items', read)).toThrow(WrongField)
  expect(() => listIn({}, 'items', read)).toThrow(WrongField)
})

test('a field that is missing is not null', () => {
  expect(() => nullOr({}, 'name', textIn)).toThrow(WrongField)
})

test('a message never shows the value', () => {
  expect(() => numberIn({ secret: 'hunter2' }, 'secret')).toThrow(/^"secret" is not a number$/)
})
