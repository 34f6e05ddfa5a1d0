import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { testAuth } from '../support/auth.js'

const origin = 'http://localhost:3000'

/** The addresses of stylesheet and script on the sign-in page, and a way to fetch them. */
async function assets() {
  const { auth } = await testAuth()
  const page = await (await auth.fetch(new Request(`${origin}/auth/login`))).text()
  const paths = [...page.matchAll(/\/auth\/assets\/latchkey\.\w+\.(?:css|js)/g)].map(([path]) => path)
  const get = (path: string, headers: Record<string, string> = {}) =>
    auth.fetch(new Request(`${origin}${path}`, { headers }))
  return { paths: [...new Set(paths)], get }
}

describe('the favicon', () => {
  test('is a tile with the first letter of the product in the accent colour, under a name that may be cached', async () => {
    const { auth } = await testAuth({ brand: { name: ' “notes” ', accentColor: '#0a7' } })
    const page = await (await auth.fetch(new Request(`${origin}/auth/login`))).text()
    const [, path = ''] = /<link rel="icon" type="image\/svg\+xml" href="([^"]+)">/.exec(page) ?? []
    const answer = await auth.fetch(new Request(`${origin}${path}`))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(answer.headers.get('cache-control')).toContain('immutable')
    const text = await answer.text()
    expect(text).toMatch(/fill="#0a7"[\s\S]*>N<\/text>/)
    expect(text).not.toContain('<script')
  })
})

describe('stylesheet and script', () => {
  test('are served compressed as the browser accepts it, and vary by that', async () => {
    const { paths, get } = await assets()
    expect(paths).toHaveLength(2)
    for (const path of paths) {
      const plain = await get(path)
      const text = await plain.text()
      expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([null, 'accept-encoding'])

      const brotli = await get(path, { 'accept-encoding': 'gzip, br' })
      expect([brotli.headers.get('content-encoding'), brotli.headers.get('vary')]).toEqual(['br', 'accept-encoding'])
      const packed = Buffer.from(await brotli.arrayBuffer())
      expect(brotliDecompressSync(packed).toString()).toBe(text)
      expect(packed.length).toBeLessThan(text.length / 2)

      const gzip = await get(path, { 'accept-encoding': 'gzip' })
      expect(gunzipSync(Buffer.from(await gzip.arrayBuffer())).toString()).toBe(text)
    }
  })

  test('are minified: no comments, and hardly a line break', async () => {
    const { paths, get } = await assets()
    for (const path of paths) {
      const text = await (await get(path)).text()
      expect(text).not.toMatch(/\/\*|^\s*\/\//m)
      // The colours of the brand are appended at run time, on lines of their own.
      expect(text.split('\n').length).toBeLessThan(20)
    }
  })
})
