import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

/** What a request had, for assertions. */
export interface Seen {
  /** `POST /tokens`, below the control API; `POST /auth/refresh` for the rest. */
  route: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}

export interface Reply {
  status?: number
  /** An object is sent as JSON, a text as it is. */
  body?: unknown
  headers?: Record<string, string>
}

export type Answer = Reply | ((seen: Seen, response: ServerResponse) => Reply | Promise<Reply> | null)

/** A server that speaks the control API: an honest one, until a test replaces an answer. */
export interface ControlServer {
  url: string
  api: string
  seen: Seen[]
  /** The requests to one route. */
  to(route: string): Seen[]
  answer(route: string, answer: Answer): void
  /** Access tokens that it accepts. */
  valid: Set<string>
}

export const user = {
  id: 'user-1',
  email: 'ann@example.org',
  emailVerified: true,
  name: 'Ann',
  roles: ['ADMIN'],
  twoFactor: true,
  createdAt: '2026-01-01T00:00:00.000Z',
  lastLoginAt: '2026-11-01T10:20:30.000Z',
  identities: [],
  disabledAt: null,
  disabledUntil: null,
}

export const token = {
  id: 'token-1',
  name: 'nightly report',
  access: 'READ',
  cidrs: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: null,
  lastUsedAt: '2026-11-01T10:20:30.000Z',
  replacedBy: null,
}

export const access = {
  jwksUrl: null,
  fixedJwksUrl: null,
  allowList: { fixed: [], added: [] },
  you: { ip: '198.51.100.4', allowed: true },
  keySet: null,
}

/** An answer to a sign-in or a refresh in token mode. */
export function session(number: number) {
  return {
    user,
    session: { id: `session-${number}`, expiresAt: '2999-01-01T00:00:00.000Z' },
    accessToken: `access-${number}`,
    accessTokenExpiresAt: '2999-01-01T00:00:00.000Z',
    refreshToken: `refresh-${number}`,
  }
}

export function problem(status: number, code: string, more: Record<string, unknown> = {}): Reply {
  const body = { type: 'about:blank', title: code, status, code, detail: `The server says ${code}.`, ...more }
  return { status, body, headers: { 'content-type': 'application/problem+json' } }
}

export async function startControlServer(): Promise<ControlServer> {
  const answers = new Map<string, Answer>(Object.entries(honestAnswers()))
  const seen: Seen[] = []
  const valid = new Set(['access-1', 'access-2'])
  const open = ['POST /auth/refresh', 'POST /auth/login', 'POST /auth/login/two-factor', 'POST /auth/logout']

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<Reply | null> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const path = pathname.startsWith('/auth/admin/api') ? pathname.slice('/auth/admin/api'.length) || '/' : pathname
    const text = await textOf(request)
    const route = `${request.method} ${path}`
    const one = { route, query: searchParams, headers: request.headers, body: text === '' ? {} : JSON.parse(text) }
    seen.push(one)
    const isOpen = open.includes(route) || /^POST \/device(\/token)?$/.test(route)
    const bearer = request.headers.authorization?.replace('Bearer ', '')
    if (!isOpen && !valid.has(bearer ?? '')) return problem(401, bearer ? 'token_expired' : 'unauthenticated')
    const answer = answers.get(route)
    if (answer === undefined) return problem(404, 'not_found')
    return typeof answer === 'function' ? answer(one, response) : answer
  }

  const server = createServer((request, response) => {
    reply(request, response).then((given) => {
      if (given === null) return
      const { status = 200, body, headers = {} } = given
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = `http://127.0.0.1:${address.port}`
  return {
    url,
    api: `${url}/auth/admin/api`,
    seen,
    valid,
    to: (route) => seen.filter((each) => each.route === route),
    answer: (route, answer) => answers.set(route, answer),
  }
}

/** Approves a sign-in after that many questions, if the verifier fits the challenge. */
export function approveAfter(server: ControlServer, questions: number, interval = 1): void {
  let challenge = ''
  let left = questions
  server.answer('POST /device', ({ body }) => {
    challenge = String(body.challenge)
    const expiresAt = '2999-01-01T00:00:00.000Z'
    const url = `${server.url}/auth/admin/device`
    return { status: 201, body: { handle: 'handle-1', userCode: 'QX7K-M2FD', url, interval, expiresAt } }
  })
  server.answer('POST /device/token', ({ body }) => {
    const fits = createHash('sha256').update(String(body.verifier)).digest('base64url') === challenge
    if (body.handle !== 'handle-1' || !fits) return problem(400, 'invalid_token')
    left -= 1
    return left < 0 ? { body: session(2) } : { status: 202, body: { status: 'pending' } }
  })
}

function honestAnswers(): Record<string, Answer> {
  const page = (item: unknown): Reply => ({ body: { items: [item], nextCursor: null } })
  const none: Reply = { status: 204 }
  const report = { account: user, identities: [], sessions: [line.session], events: [line.event] }
  return {
    'POST /auth/refresh': { body: session(2) },
    'POST /auth/logout': none,
    'GET /': { body: { home: 'application', version: '0.2.0', user: { ...user, right: 'ADMIN' } } },
    'GET /tokens': page(token),
    'POST /tokens': ({ body }) => ({
      status: 201,
      body: { ...token, access: body.access, token: '6f0e1b52-3c4d-4e5f-8a9b-0c1d2e3f4a5b' },
    }),
    'POST /tokens/token-1/rotate': { status: 201, body: { ...token, token: '7f0e1b52-3c4d-4e5f-8a9b-0c1d2e3f4a5b' } },
    'DELETE /tokens/token-1': none,
    'GET /access': { body: access },
    'POST /access/jwks/check': { body: { ok: true, keys: [key('k1'), key('k2')] } },
    'POST /access/jwks': ({ body }) => ({ body: { ...access, jwksUrl: body.url } }),
    'POST /access/networks': { body: access },
    'DELETE /access/networks': none,
    'GET /users': page(user),
    'POST /users': { status: 201, body: user },
    'GET /users/user-1': { body: report },
    'DELETE /users/user-1': none,
    'POST /users/user-1/disable': { body: { ...user, disabledAt: '2026-11-01T10:20:30.000Z' } },
    'POST /users/user-1/enable': { body: user },
    'POST /users/user-1/reset-password': { status: 202, body: {} },
    'DELETE /users/user-1/sessions': none,
    'DELETE /users/user-1/two-factor': none,
    'GET /sessions': page(line.session),
    'DELETE /sessions/session-9': none,
    'GET /mail': page(line.mail),
    'POST /mail/mail-1/retry': none,
    'DELETE /mail/mail-1': none,
    'GET /audit': page(line.event),
    'POST /audit/verify': { body: { ok: true, brokenAt: null } },
    'GET /audit.jsonl': ({ query }) =>
      query.get('cursor') === null
        ? { body: `${JSON.stringify(line.event)}\n`, headers: { 'x-next-cursor': 'more' } }
        : { body: `${JSON.stringify({ ...line.event, id: 'event-2' })}\n` },
  }
}

const key = (kid: string) => ({ kid, alg: 'RS256', use: 'sig' })

export const line = {
  session: {
    id: 'session-9',
    userId: 'user-1',
    device: 'Firefox on Linux',
    ip: '203.0.113.9',
    createdAt: '2026-11-01T10:20:30.000Z',
    lastSeenAt: '2026-11-02T10:20:30.000Z',
    expiresAt: '2999-01-01T00:00:00.000Z',
  },
  event: {
    id: 'event-1',
    at: '2026-11-01T10:20:30.000Z',
    event: 'login',
    outcome: 'success',
    actor: { kind: 'user', userId: 'user-1', sessionId: 'session-9', impersonating: null },
    userId: 'user-1',
    sessionId: 'session-9',
    ip: '203.0.113.9',
    userAgent: 'Firefox',
    detail: { method: 'password' },
  },
  mail: {
    id: 'mail-1',
    template: 'reset-password',
    domain: 'example.org',
    state: 'waiting',
    attempts: 2,
    nextAt: '2026-11-01T10:20:30.000Z',
    lastReason: 'refused',
  },
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
