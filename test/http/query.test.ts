import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { changedQuery, queryOf } from '../../src/http/query.js'
import { testAuth } from '../support/auth.js'

describe('a query', () => {
  test('gives the value of a parameter, and null where it is absent', () => {
    const query = queryOf({ query: 'a=1&b=&c=%20' })
    expect(['a', 'b', 'c', 'd'].map((name) => query.get(name))).toEqual(['1', '', ' ', null])
    expect(['a', 'd'].map((name) => query.has(name))).toEqual([true, false])
  })

  test('refuses a parameter that comes twice, also with the same value or none', () => {
    for (const text of ['a=1&a=2', 'a=1&a=1', 'a&a', 'a=1&%61=1']) {
      const query = queryOf({ query: text })
      expect(() => query.get('a')).toThrow(expect.objectContaining({ code: 'invalid_request' }))
      expect(query.all('a')).toHaveLength(2)
    }
  })

  test('does not look at parameters that are not read', () => {
    expect(queryOf({ query: 'utm=1&utm=2&a=1' }).get('a')).toBe('1')
  })

  test('is written anew with other values', () => {
    const request = { query: 'a=1&b=2&b=3' }
    expect(changedQuery(request, { a: '9' })).toBe('?a=9&b=2&b=3')
    expect(changedQuery(request, { b: null })).toBe('?a=1')
    expect(changedQuery(request, { a: null, b: null })).toBe('')
  })
})

describe('routes', () => {
  test('read their query in one place, so a doubled parameter is refused everywhere', () => {
    const src = join(import.meta.dirname, '../../src')
    const files = ['routes', 'http', 'host/routes', 'guard', 'flows', 'wiring'].flatMap((folder) =>
      readdirSync(join(src, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `${folder}/${name}`),
    )
    const reading = files.filter((file) =>
      /new URLSearchParams\([\w.]*query\)/.test(readFileSync(join(src, file), 'utf8')),
    )
    expect(reading).toEqual(['http/query.ts'])
  })

  test.each([
    ['/auth/login?redirect=/a&redirect=/b', 'a return address'],
    ['/auth/login?error=x&error=y', 'an outcome'],
    ['/auth/reset?token=x&token=y', 'the token of a link'],
    ['/auth/signed-out?deleted=1&error=a&error=b', 'nothing that this page reads'],
  ])('GET %s names %s twice', async (path, what) => {
    const { client } = await testAuth()
    const answer = await client().get<{ code?: string }>(path)
    if (what.startsWith('nothing')) expect(answer.status).toBe(200)
    else expect(answer.body).toMatchObject({ status: 400, code: 'invalid_request' })
  })

  test('a page that needs a sign-in drops a return address that comes twice', async () => {
    const { client } = await testAuth()
    const answer = await client().get('/auth/account?redirect=/a&redirect=https://evil.example')
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('/auth/login?redirect=%2Fauth%2Faccount')
  })
})
