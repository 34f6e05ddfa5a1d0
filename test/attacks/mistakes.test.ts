import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { LatchkeySettings } from '../../src/index.js'
import type { StandardResult } from '../../src/settings.js'
import { ada, attackServer } from '../support/attack-server.js'
import { recorder, show } from './recorder.js'

describe('ATK-112 mistakes of the application', () => {
  const plantedText = 'PLANTED select * from users where secret'
  const strange: [string, unknown][] = [
    ['an Error', new Error(plantedText)],
    ['an Error whose message looks like a stack', new Error(`x\n    at ${plantedText} (file.js:1:1)`)],
    [
      'an Error with a code and a status',
      Object.assign(new Error(plantedText), { code: 'SQLITE_BUSY', status: 418, expose: true }),
    ],
    ['a text', plantedText],
    ['nothing', undefined],
    ['null', null],
    ['an object that looks like ours', { code: 'forbidden', status: 403, message: plantedText, details: {} }],
    [
      'an object that throws when it is read',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error(plantedText)
          },
        },
      ),
    ],
    ['a cause with a secret', new Error(plantedText, { cause: new Error(plantedText) })],
  ]
  const ways = ['throws', 'rejects with'] as const
  const cases = ways.flatMap((way) => strange.map(([what, thrown]) => ({ way, what, thrown })))

  test.each(cases)('ATK-112 a schema that $way $what is a generic 500', async ({ way, thrown }) => {
    const { server, lines } = await broken({
      registration: { fields: schema(() => (way === 'throws' ? raise(thrown) : Promise.reject(thrown))) },
    })
    const answer = await server.ask('POST', '/auth/register', { body: ada })
    expect([answer.status, answer.body]).toMatchObject([500, { code: 'internal_error' }])
    expectSilence(answer, lines)
  })

  test.each(cases)('ATK-112 a hook that $way $what is a 503 hook_failed', async ({ way, thrown }) => {
    const beforeRegister = () => (way === 'throws' ? raise(thrown) : Promise.reject(thrown))
    const { server, lines } = await broken({ hooks: { beforeRegister } })
    const answer = await server.ask('POST', '/auth/register', { body: ada })
    expect([answer.status, answer.body]).toMatchObject([503, { code: 'hook_failed' }])
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expectSilence(answer, lines)
    expect(server.mailbox.mails).toEqual([])
  })

  test.each([
    ['an array', { value: [] }],
    ['no object', { value: plantedText }],
    ['nothing', undefined],
    ['null', null],
    ['issues that are none', { issues: plantedText }],
    ['issues without a message', { issues: [{}] }],
    ['a value that cannot be stored', { value: { big: 1n } }],
    ['a value that holds itself', { value: loop() }],
  ])('ATK-112 a schema that answers with %s breaks nothing open', async (_what, result) => {
    const { server, lines } = await broken({ registration: { fields: schema(() => result) } })
    const answer = await server.ask('POST', '/auth/register', { body: ada })
    expect([400, 500]).toContain(answer.status)
    expectSilence(answer, lines)
    expect((await server.ask('POST', '/auth/login', { body: ada })).status).toBe(401)
  })

  test('ATK-112 what a visitor sends cannot make a second line in the log', async () => {
    const { server, lines } = await broken({ registration: { fields: schema(() => raise(new Error('a\nb'))) } })
    const body = { ...ada, field: 'x\r\n2026-01-01 ERROR forged', name: 'Ada' }
    await server.raw(
      `POST /auth/register?a%0d%0aforged HTTP/1.1\r\nHost: x\r\nUser-Agent: a\u0085forged\r\nContent-Type: application/json\r\nContent-Length: ${JSON.stringify(body).length}\r\n\r\n${JSON.stringify(body)}`,
    )
    expect(lines.length).toBeGreaterThan(0)
    expect(show(lines)).not.toContain('forged')
  })

  test('ATK-112 the default logger writes one line an event, and no message of an error', async () => {
    const server = await attackServer({
      settings: {
        ...withoutLogger(),
        registration: { fields: schema(() => raise(new Error(`${plantedText}\nsecond line`))) },
      },
    })
    onTestFinished(() => server.close())
    const quiet = vi.spyOn(console, 'error').mockImplementation(() => {})
    await server.ask('POST', '/auth/register', { body: ada })
    const lines = quiet.mock.calls.flat()
    quiet.mockRestore()
    expect(lines).toHaveLength(1)
    expect(String(lines[0])).toMatch(/^latchkey: A request failed\. \{.*\}$/)
    expect(String(lines[0])).not.toMatch(/PLANTED|second line/)
  })

  function withoutLogger(): Partial<LatchkeySettings> {
    return { logger: undefined }
  }

  async function broken(settings: Partial<LatchkeySettings>) {
    const { lines, logger } = recorder()
    const server = await attackServer({ settings: { ...settings, logger } })
    onTestFinished(() => server.close())
    return { server, lines }
  }

  /** No stack, no message, no name of a file, and the request id that the log has as well. */
  function expectSilence(
    answer: { status: number; text: string; headers: Headers; body: unknown },
    lines: unknown[][],
  ): void {
    expect(answer.text).not.toMatch(/PLANTED|\bat \S+ \(|\.ts\b|\.js\b|select|Error:|SQLITE/)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(show(lines)).not.toMatch(/PLANTED/)
    if (answer.status < 500) return
    expect(Reflect.get(Object(answer.body), 'requestId')).toBe(answer.headers.get('x-request-id'))
    expect(show(lines)).toContain(`requestId: '${answer.headers.get('x-request-id')}'`)
  }
})

function schema(validate: (value: unknown) => unknown) {
  return {
    '~standard': { version: 1 as const, vendor: 'ours', validate: (value: unknown) => boundary(validate(value)) },
  }
}

/** What a schema must not answer is what these are about. */
function boundary(result: unknown): StandardResult {
  return result as StandardResult
}

function raise(thrown: unknown): never {
  throw thrown
}

function loop(): object {
  const object: Record<string, unknown> = {}
  object.self = object
  return object
}
