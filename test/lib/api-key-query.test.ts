import fc from 'fast-check'
import { describe, expect, onTestFinished, test as property, test, vi } from 'vitest'
import { isApiKeyName, takeApiKey, withQuery } from '../../src/lib/api-key-query.js'

describe('taking apikey out of a query', () => {
  test.each([
    ['apikey=k', ['k'], ''],
    ['a=1&apikey=k&b=%20', ['k'], 'a=1&b=%20'],
    ['apikey=bad&apikey=k', ['bad', 'k'], ''],
    ['%61pikey=k', ['k'], ''],
    ['apikey[]=k&q={}', [null], 'q={}'],
    ['apikey%5B%24ne%5D=x', [null], ''],
    ['apikey.x=1', [null], ''],
    ['apikey=', [''], ''],
    ['apikey', [''], ''],
    ['a=1&&apikey=%zz', [null], 'a=1&'],
    ['+apikey=k', [null], ''],
    ['[apikey]=k', [null], ''],
    ['%5Bapikey%5D=k&a=1', [null], 'a=1'],
    ['apikey=k&apikey=l&apikey=m', ['k', 'l', null], ''],
    ['apikey=\u0161', [null], ''],
  ])('%s', (query, values, rest) => {
    expect(takeApiKey(query)).toEqual({ values, rest })
  })

  test.each(['', 'q={"apikey":"x"}', 'myapikey=1', 'apikeys=1', 'APIKEY=1', 'a=%', 'a=apikey'])(
    '%j holds none',
    (query) => {
      expect(takeApiKey(query)).toBeNull()
    },
  )

  test('ATK-216 a query of 7,500 broken escapes is read without one exception', () => {
    const decode = vi.spyOn(globalThis, 'decodeURIComponent')
    onTestFinished(() => decode.mockRestore())
    expect(takeApiKey('%&'.repeat(7_500))).toBeNull()
    expect(takeApiKey(`apikey=k&${'%&'.repeat(7_500)}`)?.values).toEqual(['k'])
    const many = takeApiKey('apikey=%41&'.repeat(1_600))?.values
    expect([many?.length, many?.slice(0, 3)]).toEqual([1_600, ['A', 'A', null]])
    expect(decode).not.toHaveBeenCalled()
  })

  property('a value is what decodeURIComponent makes of it, or null', () => {
    const piece = fc.constantFrom('a', '+', '%20', '%C3%A9', '%ff', '%', '%zz', '%E4%BD', '=')
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('')
        expect(takeApiKey(`apikey=${text}`)?.values).toEqual([decoded(text)])
      }),
    )
  })

  property('nothing is left that a parser would read as the name, and nothing else is lost', () => {
    const name = fc.constantFrom('apikey', '%61pikey', 'apikey[a]', 'a', 'b%20c', '')
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.constantFrom('', 'x', '%3D'))), (pairs) => {
        const query = pairs.map(([key, value]) => `${key}=${value}`).join('&')
        const rest = takeApiKey(query)?.rest ?? query
        const kept = [...new URLSearchParams(rest).keys()]
        expect(kept.filter(isApiKeyName)).toEqual([])
        const wanted = [...new URLSearchParams(query)].filter(([key]) => !isApiKeyName(key))
        expect([...new URLSearchParams(rest)]).toEqual(wanted)
      }),
    )
  })
})

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

test('a URL gets another query', () => {
  expect(withQuery('/api/x?apikey=1', '')).toBe('/api/x')
  expect(withQuery('/api/x?apikey=1&a=2', 'a=2')).toBe('/api/x?a=2')
  expect(withQuery('https://h/api?x', 'y')).toBe('https://h/api?y')
})
