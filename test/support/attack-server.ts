import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type ServerOptions } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import express5, { type Express, type RequestHandler } from 'express'
import { expect } from 'vitest'
import { type Auth, init, type LatchkeySettings, type Principal } from '../../src/index.js'
import { parseBody } from '../../src/testing/answer.js'
import { overHttp } from '../../src/testing/send.js'
import {
  createTestClient,
  createTestClock,
  createTestMailbox,
  createTestRuntime,
  type TestClient,
  type TestClientOptions,
  type TestMailbox,
  type TestRuntime,
  testSettings,
} from '../../src/testing.js'
import { type RawAnswer, rawRequest } from './raw-http.js'

/** The same calls as Express 5, and no types of its own. */
export const express4: typeof express5 = createRequire(import.meta.url)('express4')

export const ada = { email: 'ada@example.test', password: 'correct horse battery' }

/** A handler of the application ran. */
interface Call {
  method: string
  path: string
  principal: Principal | null
  headers: Readonly<Record<string, unknown>>
}

interface Asked {
  headers?: Readonly<Record<string, string>>
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown
}

/** An answer, of whatever client. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  body: unknown
}

export interface AttackServer {
  port: number
  /** What the server is reached by; also the `baseUrl` setting, unless the settings say otherwise. */
  url: string
  auth: Auth
  runtime: TestRuntime
  mailbox: TestMailbox
  /** What the application's handlers were called with. Tests empty it. */
  calls: Call[]
  client(options?: TestClientOptions): TestClient
  /** A client that believes it talks to that https origin, as behind a proxy that ends TLS. */
  clientAt(origin: string, options?: TestClientOptions): TestClient
  /** One request with these headers and no others of note. */
  ask(method: string, path: string, asked?: Asked): Promise<Answer>
  /** These very bytes. */
  raw(bytes: string | Uint8Array): Promise<Answer>
  /** The store's file, by a connection of its own; needs the option `file`. */
  sql<Row>(query: string, ...values: readonly unknown[]): Row[]
  close(): Promise<void>
}

export interface AttackOptions {
  settings?: Partial<LatchkeySettings>
  express?: typeof express5
  /** Routes that the application has before `init` is called, and after; `handler` counts the calls. */
  before?(app: Express, handler: RequestHandler): void
  after?(app: Express, handler: RequestHandler): void
  server?: ServerOptions
  /** Keep the store in a file, for `sql`. */
  file?: boolean
  startAt?: number
  /** In place of `init`. */
  install?(app: Express, settings: LatchkeySettings, runtime: TestRuntime, handler: RequestHandler): Auth
}

/** An application of somebody's, with Latchkey in it, on a loopback socket. */
export async function attackServer(options: AttackOptions = {}): Promise<AttackServer> {
  const app = (options.express ?? express5)()
  // A client may wait longer than Node's 5 s between two requests: the server must not hang up just then.
  const server = createServer({ keepAliveTimeout: 60_000, ...options.server }, app as RequestListener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`

  const folder = options.file ? mkdtempSync(join(tmpdir(), 'latchkey-attack-')) : null
  const file = folder && join(folder, 'latchkey.db')
  const mailbox = createTestMailbox()
  const clock = createTestClock(options.startAt)
  const runtime = createTestRuntime({ clock })
  const settings = testSettings({
    mailbox,
    baseUrl: url,
    database: file ? `sqlite:${file}` : 'sqlite::memory:',
    logger: { warn: () => {}, error: () => {} },
    ...options.settings,
  })

  const calls: Call[] = []
  const handler: RequestHandler = (req, res) => {
    const { method, originalUrl: path, headers } = req
    const principal: Principal | null = Reflect.get(req, 'auth')
    calls.push({ method, path, principal, headers })
    res.json({ served: path, principal })
  }
  if (options.before) options.before(app, handler)
  else app.all('/api/secret', handler)
  const auth = options.install?.(app, settings, runtime, handler) ?? init(app, settings, runtime)
  options.after?.(app, handler)
  await auth.ready()

  const connection = file ? new Database(file) : null
  return {
    port,
    url,
    auth,
    runtime,
    mailbox,
    calls,
    client: (client) => createTestClient(url, { mailbox, clock, ...client }),
    clientAt: (origin, client) =>
      createTestClient({ fetch: (request) => forward(url, request) }, { mailbox, clock, baseUrl: origin, ...client }),
    ask: (method, path, asked) => ask(url, method, path, asked),
    raw: async (bytes) => toAnswer(await rawRequest(port, bytes)),
    sql(query, ...values) {
      if (!connection) throw new Error('sql needs the option file')
      const statement = connection.prepare<unknown[], never>(query)
      if (statement.reader) return statement.all(...values)
      statement.run(...values)
      return []
    },
    async close() {
      await auth.close()
      connection?.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (folder) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function ask(base: string, method: string, path: string, { headers = {}, body }: Asked = {}): Promise<Answer> {
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
  const json = body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }
  const url = new URL(path, base)
  const answer = await overHttp({ method, url, headers: { ...json, ...headers }, body: text })
  return { ...answer, body: parseBody(answer.headers, answer.text) }
}

/** What a proxy does that ends TLS. */
async function forward(base: string, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const body = request.body === null ? null : await request.text()
  const headers = Object.fromEntries(request.headers)
  const answer = await overHttp({ method: request.method, url: new URL(pathname + search, base), headers, body })
  return new Response([204, 304].includes(answer.status) ? null : answer.text, answer)
}

function toAnswer({ status, headers, body }: RawAnswer): Answer {
  const list = Object.entries(headers).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  )
  const received = new Headers(list)
  const text = body.toString()
  return { status, headers: received, text, body: parseBody(received, text) }
}

/** Server-side code shows where it broke like this, in every engine and framework. */
const stackText = /\n\s*at \S+.*:\d+|node_modules|node:internal|\bSQLITE_|\bselect .* from\b/i

/**
 * What every refusal has, whatever it is for (attacks.md, ground rules): no 5xx, no stack, a problem that nobody
 * stores. What node's own parser has refused never reaches us, and has nothing but a status.
 */
export function expectRefusal(answer: Answer, ...statuses: number[]): void {
  expect(answer.text).not.toMatch(stackText)
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(answer.status).toBeLessThan(500)
  if (statuses.length > 0) expect(statuses, answer.text).toContain(answer.status)
  if (answer.text === '' && !answer.headers.has('x-request-id')) {
    expect([400, 408, 431]).toContain(answer.status)
    return
  }
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('cache-control')).toContain('no-store')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('x-request-id')).toBeTruthy()
}

/** The payload of one of our own tokens. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

/** The address of a token that a client holds; throws when it holds none. */
export function heldTokens(client: TestClient): { access: string; refresh: string } {
  const tokens = client.tokens()
  const access = tokens?.accessToken ?? client.cookies.get('access-token')
  const refresh = tokens?.refreshToken ?? client.cookies.get('refresh-token')
  if (access === null || refresh === null) throw new Error('this client is not signed in')
  return { access, refresh }
}
