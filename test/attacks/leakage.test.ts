import { inspect } from 'node:util'
import express from 'express'
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAuth, SettingsError } from '../../src/index.js'
import { createTestRuntime, testSettings } from '../../src/testing.js'
import { type AttackOptions, type AttackServer, attackServer, expectRefusal } from '../support/attack-server.js'
import { codesOf, keys, live, type Secrets, secretsIn, withoutCodes } from './life.js'
import { recorder, show } from './recorder.js'

/** What goes to the console and to the streams behind it. */
const consoles = (['log', 'info', 'warn', 'error', 'debug', 'trace'] as const).map((name) => vi.spyOn(console, name))
const streams = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
beforeEach(() => {
  for (const spy of [...consoles, ...streams]) spy.mockClear()
})
function printed(): string {
  return inspect(
    [...consoles, ...streams].map((spy) => spy.mock.calls),
    { depth: 8, maxStringLength: null },
  )
}

function traces(secrets: Secrets, text: string): string[] {
  // Six digits stand in ids and times by chance; a code in a log would stand by itself.
  const codes = codesOf(secrets).filter(([, code]) => new RegExp(`(?<![\\w.-])${code}(?![\\w-]|\\.\\d)`).test(text))
  return [...codes.map(([name]) => name), ...secretsIn(Buffer.from(text), withoutCodes(secrets))]
}

describe('ATK-112 a whole run at the most verbose level', async () => {
  const log = recorder()
  const hooked: unknown[] = []
  const hook = (input: unknown) => void hooked.push(input)
  const hooks = { beforeRegister: hook, afterRegister: hook, beforeLogin: hook, afterLogin: hook }
  const password = { ...keys.password, cost: 4, checkBreached: false }
  const app = express()
  const server = await attackServer({
    settings: { ...keys, password, hooks, logger: log.logger },
    express: always(app),
  })
  afterAll(() => server.close())

  const answers: string[] = []
  const recorded: AttackServer = {
    ...server,
    client: (options) => recording(server.client(options)),
    async ask(...input) {
      const answer = await server.ask(...input)
      answers.push(`${answer.text} ${JSON.stringify([...answer.headers])}`)
      return answer
    },
  }
  /** Bodies and headers of everything that is refused; those that are not may carry the tokens they are for. */
  function recording<Client extends object>(client: Client): Client {
    return new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...input: unknown[]) => {
          const result: unknown = Reflect.apply(value, target, input)
          if (name === 'copy' && typeof result === 'object' && result !== null) return recording(result)
          if (result instanceof Promise) result.then(record, () => {})
          return result
        }
      },
    })
  }
  function record(answer: { status: number; text: string; headers: Headers }): void {
    if (answer.status >= 400) answers.push(`${answer.text} ${JSON.stringify([...answer.headers])}`)
  }

  const secrets: Secrets = new Map()
  test('ATK-112 neither log, console, hooks, refusals nor objects hold a secret', async () => {
    await live(recorded, secrets, () => {})
    expect([secrets.size > 25, answers.length > 8, hooked.length > 8]).toEqual([true, true, true])
    expect(traces(secrets, show(log.lines))).toEqual([])
    expect(traces(secrets, printed())).toEqual([])
    expect(traces(secrets, answers.join('\n'))).toEqual([])
    expect(traces(secrets, show(hooked))).toEqual([])
    expect(show(hooked)).not.toMatch(/\$2b\$|canonical|passwordHash/i)
  })

  test('ATK-112 what the application holds of us shows nothing when it is printed', async () => {
    for (const held of [
      server.auth,
      app,
      server.calls.map(({ principal }) => principal),
      process.title,
      process.argv,
    ]) {
      expect(traces(secrets, show(held))).toEqual([])
    }
    expect(traces(secrets, JSON.stringify(server.auth))).toEqual([])
  })

  test('ATK-112 the search finds what is there', () => {
    const [name = '', secret = ''] = [...secrets].find(([known]) => known.startsWith('access token')) ?? []
    expect(traces(secrets, show({ deep: { token: secret } }))).toContain(name)
    expect(traces(secrets, `code: ${secrets.get('code bob')}.`)).toEqual(expect.arrayContaining(['code bob']))
  })
})

describe('ATK-112 audit events', () => {
  test('ATK-112 every event of a run is there once, with who, what, when, from where and how it ended', async () => {
    const server = await attackServer({ file: true })
    onTestFinished(() => server.close())
    await live(server, new Map(), () => {})
    const events = server.sql<{ event: string; outcome: string; ip: string; at_ms: number; user_id: string | null }>(
      'select event, outcome, ip, at_ms, user_id from latchkey_audit order by seq',
    )
    expect(events.map(({ event, outcome }) => `${event} ${outcome}`)).toEqual([
      'registration_requested success',
      'registration_requested success',
      // The right password, before the address was confirmed.
      'verification_requested success',
      'login failure',
      'login failure',
      'login failure',
      'account_created success',
      'login success',
      'otp_requested success',
      'login failure',
      'login failure',
      'login success',
      'logout success',
      'login failure',
      'otp_requested failure',
      'registration_requested failure',
      'registration_requested success',
      'account_created success',
      'login success',
      'login failure',
      'profile_changed success',
      'refresh_token_reuse failure',
      'login failure',
      'login success',
      'two_factor_enabled success',
      'two_factor_asked success',
      'login failure',
      'login failure',
      'login success',
      'logout success',
      'login failure',
      'two_factor_asked success',
      'login success',
      'logout success',
      'backup_codes_replaced success',
      'two_factor_disabled failure',
      'two_factor_disabled success',
      'login success',
      'sessions_revoked success',
      'email_change_requested success',
      'email_changed success',
      'email_restored success',
      'login success',
      'logout success',
      'logout success',
      'login success',
      'account_deleted failure',
      'account_deleted success',
    ])
    expect(new Set(events.map(({ ip }) => ip))).toEqual(new Set(['127.0.0.1']))
    // A registration and its refusals are nobody's yet, and so is a code or a second step that nobody waits for.
    const named = events.filter(({ user_id }) => user_id !== null)
    expect(events.length - named.length).toBe(12)
    expect(named.every(({ user_id, at_ms }) => /^[\w-]{22}$/.test(user_id ?? '') && at_ms > 1.7e12)).toBe(true)
    expect(await server.auth.audit.verify()).toEqual({ ok: true, brokenAt: null })
  })
})

describe('ATK-107 settings that are refused', () => {
  test('ATK-107 no value of a setting is in what is thrown', () => {
    const settings = testSettings({
      ...keys,
      JWT_REFRESH_TOKEN_SECRET: keys.JWT_ACCESS_TOKEN_SECRET,
      encryptionKey: 'PLANTED-short',
      trustedOrigins: ['PLANTED'],
      database: 'PLANTED://user:PLANTED@host',
      // @ts-expect-error a JavaScript application may write it
      accessTokenLifetime: 'PLANTED',
    })
    const thrown = catching(() => createAuth(settings, createTestRuntime()))
    expect(thrown).toBeInstanceOf(SettingsError)
    for (const text of [show(thrown), String(thrown), JSON.stringify(thrown)]) {
      expect(text).not.toMatch(new RegExp(`PLANTED|${keys.JWT_ACCESS_TOKEN_SECRET}|${keys.password.pepper}`))
    }
  })

  test('ATK-112 a request that is refused while there is no store tells nothing of the store', async () => {
    const lines = recorder()
    const settings: AttackOptions['settings'] = {
      database: 'sqlite:/nowhere/PLANTED/latchkey.db',
      logger: lines.logger,
    }
    const auth = createAuth(testSettings(settings), createTestRuntime())
    const response = await auth.fetch(new Request('http://localhost:3000/auth/login', { method: 'POST' }))
    expect([response.status, await response.text()]).toEqual([503, expect.not.stringContaining('PLANTED')])
    await auth.close()
  })

  test('ATK-112 a refusal of node itself is none of ours and still tells nothing', async () => {
    const server = await attackServer()
    onTestFinished(() => server.close())
    expectRefusal(await server.raw('GET / HTTP/1.1\r\nHost: x\r\nBroken\r\n\r\n'), 400)
  })
})

function catching(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}

/** A framework that hands out an application that exists already. */
function always(app: express.Express): typeof express {
  return Object.assign(() => app, express)
}
