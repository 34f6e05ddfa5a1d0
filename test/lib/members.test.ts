import { expect, test } from 'vitest'
import { hasMethods, memberOf } from '../../src/lib/members.js'

class App {
  name = 'app'
  listen() {}
}

test('memberOf reads own and inherited members, of functions too', () => {
  const symbol = Symbol('kept')
  expect(memberOf(new App(), 'name')).toBe('app')
  expect(memberOf(new App(), 'listen')).toBe(App.prototype.listen)
  expect(memberOf({ [symbol]: 7 }, symbol)).toBe(7)
  expect(
    memberOf(
      Object.assign(() => {}, { stack: [] }),
      'stack',
    ),
  ).toEqual([])
})

test.each([undefined, null, 'text', 7, Symbol('s')])('memberOf finds nothing in %s', (value) => {
  expect(memberOf(value, 'length')).toBeUndefined()
})

test('hasMethods asks for every one', () => {
  expect(hasMethods(new App(), ['listen'])).toBe(true)
  expect(hasMethods(new App(), ['listen', 'close'])).toBe(false)
  expect(hasMethods(new App(), ['name'])).toBe(false)
  expect(hasMethods(null, ['listen'])).toBe(false)
})
