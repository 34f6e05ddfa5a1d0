import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMatch } from '../../src/host/runner/exchange/application.js'

const match = createMatch()

describe('patterns of codehooks-js', () => {
  test.each([
    ['/auth/*', ['/auth/', '/auth/a', '/auth/a/b', '/AUTH/a'], ['/auth', '/authx', '/x/auth/a', '//auth/a']],
    ['/app*', ['/app', '/apple/x'], ['/ap', '/x/app']],
    ['/*', ['/', '/a', '/a/b', '//a'], ['']],
    ['/:collection', ['/users', '/users/', '/USERS'], ['/users/1', '/']],
    ['/:c/:ID', ['/users/1', '/users/_byquery', '/users/1/'], ['/users', '/users/1/2']],
    ['/web/*/x', ['/web/a/b/x', '/web/a/x'], ['/web/x', '/web/a/y']],
    ['//*', ['//api/x'], ['/api/x']],
    ['/a.b', ['/a.b', '/A.B/'], ['/aXb']],
    ['/', ['/'], ['/a']],
    ['/users/', ['/users', '/users/'], ['/users/1']],
    ['{"$regex":"/^\\\\/x(.*)$/i"}', ['/x', '/Xyz'], ['/y']],
  ])('%s', (pattern, matching, others) => {
    expect(matching.filter((path) => match(pattern, path) === null)).toEqual([])
    expect(others.filter((path) => match(pattern, path) !== null)).toEqual([])
  })

  test('parameters are named and not decoded; a star gives none', () => {
    expect(match('/:collection/:ID', '/a%2Fb/%20')).toEqual({ collection: 'a%2Fb', ID: '%20' })
    expect(match('/web/*/:last', '/web/a/b/c')).toEqual({ last: 'c' })
    expect(match('/:a/:a', '/1/2')).toEqual({ a: '2' })
    expect(match('{"$regex":"/^\\\\/(?<name>.+)$/"}', '/x')).toEqual({ name: 'x' })
  })

  test('a regular expression with the flag g or y matches every request alike', () => {
    const pattern = '{"$regex":"/^\\\\/x/gy"}'
    expect([1, 2, 3].map(() => match(pattern, '/x') !== null)).toEqual([true, true, true])
  })

  test('a regular expression that cannot be read throws', () => {
    expect(() => match('{"$regex":"/(/"}', '/x')).toThrow(SyntaxError)
  })
})

/** The same rules, character by character and without a regular expression. */
function matchesByHand(pattern: string, path: string): boolean {
  const parts = pattern.replace(/\/$/, '').match(/:\w+|./gsu) ?? []
  const walk = (part: number, at: number): boolean => {
    const rest = path.slice(at)
    if (part === parts.length) return rest === '' || rest === '/'
    const wanted = parts[part] ?? ''
    if (wanted === '*')
      return Array.from({ length: rest.length + 1 }, (_, n) => at + n).some((to) => walk(part + 1, to))
    if (/^:\w/.test(wanted)) {
      const [segment = ''] = /^[^/]*/.exec(rest) ?? []
      return Array.from({ length: segment.length }, (_, n) => at + n + 1).some((to) => walk(part + 1, to))
    }
    return rest.slice(0, wanted.length).toLowerCase() === wanted.toLowerCase() && walk(part + 1, at + wanted.length)
  }
  return walk(0, 0)
}

const piece = fc.constantFrom('a', 'B', 'ab', '.', '-', '_', '%2F', '1', '(', '+', '$', '\n', '')
const patternPiece = fc.oneof({ weight: 3, arbitrary: piece }, fc.constantFrom('*', ':id', ':x'))
const paths = (part: fc.Arbitrary<string>) =>
  fc
    .array(
      fc.array(part, { maxLength: 3 }).map((parts) => parts.join('')),
      { maxLength: 4 },
    )
    .map((segments) => `/${segments.join('/')}`)

test('any pattern matches exactly the paths that its rules name', () => {
  fc.assert(
    fc.property(paths(patternPiece), paths(piece), (pattern, path) => {
      expect(match(pattern, path) !== null).toBe(matchesByHand(pattern, path))
    }),
    { numRuns: 5_000 },
  )
})

test('a pattern that was made of a path matches it, and its parameters are parts of the path', () => {
  const words = fc.array(fc.constantFrom('users', 'Feed', '42', 'a.b', '%20'), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(
      words,
      fc.array(fc.constantFrom('same', 'param', 'star'), { minLength: 4, maxLength: 4 }),
      (parts, kinds) => {
        const pattern = parts.map((part, index) => {
          if (kinds[index] === 'same') return part
          return kinds[index] === 'param' ? `:p${index}` : '*'
        })
        const found = match(`/${pattern.join('/')}`, `/${parts.join('/')}`)
        expect(found).not.toBeNull()
        for (const value of Object.values(found ?? {})) expect(parts).toContain(value)
      },
    ),
  )
})
