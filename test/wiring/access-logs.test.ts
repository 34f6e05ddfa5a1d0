import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { init } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'

test('ATK-101 a request serializer keeps a token in the URL out of Fastify’s log, as the page on API tokens has it', async () => {
  const logged = async (logger: object) => {
    const lines: string[] = []
    const app = fastify({ logger: { stream: { write: (line: string) => lines.push(line) }, ...logger } })
    const auth = init(app, testSettings(), createTestRuntime())
    onTestFinished(async () => {
      await app.close()
      await auth.close()
    })
    app.get('/api/notes', () => 'notes')
    const { token } = await auth.apiTokens.create({ name: 'reports' })
    const wrong = token.replace(/^./, 'g')
    for (const [path, status] of [
      [`/api/notes?apikey=${token}`, 200],
      [`/api/nowhere?apikey=${token}`, 404],
      [`/api/notes?apikey=${wrong}`, 401],
    ] as const) {
      expect(await app.inject(path)).toMatchObject({ statusCode: status })
    }
    expect(lines.length).toBeGreaterThan(5)
    return lines.some((line) => line.includes(token) || line.includes(wrong))
  }
  expect(await logged({})).toBe(true)
  const serializers = {
    req: ({ method, url }: { method: string; url: string }) => ({ method, path: url.split('?')[0] }),
  }
  expect(await logged({ serializers })).toBe(false)
})
