import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { access, problem, type Reply, token, user } from './control-server.js'

/** What a request had, for assertions. */
export interface SeenByHost {
  /** `POST /spaces/dev/releases`, below the control API. */
  route: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
  /** Of an archive. */
  bytes: number
}

export type HostAnswer = Reply | ((seen: SeenByHost, response: ServerResponse) => Reply | Promise<Reply> | null)

/** A server that speaks the control API of a space host: an honest one, until a test replaces an answer. */
export interface HostControlServer {
  url: string
  api: string
  seen: SeenByHost[]
  /** Bytes of uploads as they arrive. */
  received(): number
  /** From now on, no more than the beginning of an upload is read. */
  holdUploads(): void
  to(route: string): SeenByHost[]
  answer(route: string, answer: HostAnswer): void
}

export const adminToken = 'a41f0c9d5e7b2a63-9c00112233445566778899aabbccddee'

const at = '2026-11-01T10:20:30.000Z'
export const tokenEntry = {
  id: 'a41f0c9d5e7b2a63',
  start: 'a41f0',
  name: 'ci',
  owner: { kind: 'personal', id: 'user-1', name: 'ann@example.org' },
  madeBy: { id: 'user-1', email: 'ann@example.org' },
  spaces: ['dev'],
  commands: ['deploy'],
  cidrs: [],
  createdAt: at,
  expiresAt: '2027-11-01T10:20:30.000Z',
  lastUse: { day: '2026-11-20', network: '192.0.2.0/24' },
}
const space = (name: string) => ({
  id: `id-${name}`,
  name,
  url: `https://api.example.org/${name}`,
  createdAt: at,
  release: 16,
  state: 'ready',
  memoryBytes: 61_000_000,
  restarts: 0,
  busyWith: null,
})
export const release = (number: number, state: string) => ({
  number,
  state,
  sha256: 'ab'.repeat(32),
  bytes: 312_000,
  git: { hash: 'c'.repeat(40), branch: 'main' },
  dirty: null,
  tool: '0.1.0',
  author: { kind: 'user', id: 'user-1' },
  createdAt: at,
  fault: state === 'failed' ? 'index.js:3: x is not defined' : null,
})
const projectUser = {
  id: 'user-2',
  email: 'bob@example.org',
  name: null,
  right: 'MEMBER',
  teams: [{ id: 'team-1', name: 'deployers', right: 'ADMIN' }],
  inForce: 'ADMIN',
}
const ann = { ...projectUser, id: 'user-1', email: 'ann@example.org', name: 'Ann', right: 'ADMIN', teams: [] }
const team = {
  id: 'team-1',
  name: 'deployers',
  right: 'ADMIN',
  createdAt: at,
  members: [
    { id: 'user-1', email: 'ann@example.org', name: 'Ann' },
    { id: 'user-2', email: 'bob@example.org', name: null },
  ],
}

/** Rows as NDJSON. */
export function ndjson(...rows: readonly object[]): Reply {
  const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  return { body, headers: { 'content-type': 'application/x-ndjson' } }
}

const deployed = ndjson(
  { step: 'uploaded', ms: 40 },
  { step: 'started', ms: 900 },
  { step: 'serving', ms: 3 },
  { done: true, release: 17, warnings: ['jobs do not run here'] },
)

/** The fields that each body may have; those with `?` may be left out. Anything else is a 400, as in the host. */
const bodies: Readonly<Record<string, readonly string[]>> = {
  'POST /spaces': ['name'],
  'DELETE /spaces/:space': ['confirm'],
  'POST /project/users': ['email', 'right'],
  'PATCH /project/users/:id': ['right'],
  'DELETE /project/users/:id': ['confirm'],
  'POST /teams': ['name', 'right'],
  'PATCH /teams/:id': ['name?', 'right?'],
  'DELETE /teams/:id': ['confirm'],
  'POST /teams/:id/members': ['email'],
  'POST /admintokens': ['owner', 'name?', 'expiresAt?', 'cidrs?', 'spaces?', 'commands?'],
  'DELETE /admintokens': ['confirm'],
  'POST /spaces/:space/env': ['name', 'value', 'encrypted?'],
  'DELETE /spaces/:space/releases/current': ['confirm'],
  'POST /spaces/:space/tokens': ['name', 'access?', 'expiresAt?', 'cidrs?'],
  'POST /spaces/:space/access/jwks': ['url'],
  'POST /spaces/:space/access/jwks/check': ['url'],
  'POST /spaces/:space/access/networks': ['network', 'force?', 'confirm?'],
}

/** Routes that an admin token may call. */
const forTokens = [
  'GET /',
  'GET /spaces/:space/releases',
  'POST /spaces/:space/releases',
  'POST /spaces/:space/releases/:id/activate',
  'DELETE /spaces/:space/releases/current',
]

const none: Reply = { status: 204 }
const page = (item: unknown): Reply => ({ body: { items: [item], nextCursor: null } })
const here = { home: 'host', version: '0.2.0', project: 'shop' }
const places = [{ name: 'dev', url: 'https://api.example.org/dev', release: 16 }]

const honest: Readonly<Record<string, HostAnswer>> = {
  'GET /': ({ headers }) =>
    headers['x-admintoken'] === undefined
      ? { body: { ...here, spaces: places, user: { ...user, right: 'ADMIN' } } }
      : { body: { ...here, spaces: places, adminToken: { id: 'a41f', name: 'ci', spaces: null, commands: null } } },
  'GET /spaces': page(space('dev')),
  'POST /spaces': ({ body }) => ({ status: 201, body: { ...space(String(body.name)), release: null } }),
  'GET /spaces/dev': { body: space('dev') },
  'DELETE /spaces/dev': none,
  'GET /project/users': { body: [ann, projectUser] },
  'POST /project/users': ({ body }) => ({ status: 201, body: { ...projectUser, ...body, inForce: null } }),
  'PATCH /project/users/user-2': ({ body }) => ({ body: { ...projectUser, ...body } }),
  'DELETE /project/users/user-2': none,
  'GET /teams': { body: [team] },
  'POST /teams': ({ body }) => ({ status: 201, body: { ...team, ...body, members: [] } }),
  'PATCH /teams/team-1': ({ body }) => ({ body: { ...team, ...body } }),
  'DELETE /teams/team-1': none,
  'POST /teams/team-1/members': { status: 201, body: team },
  'DELETE /teams/team-1/members/user-2': none,
  'GET /admintokens': { body: [tokenEntry] },
  'POST /admintokens': { status: 201, body: { ...tokenEntry, token: adminToken } },
  'DELETE /admintokens/a41f0c9d5e7b2a63': none,
  'DELETE /admintokens': { body: { removed: 3 } },
  'GET /spaces/dev/env': {
    body: {
      items: [
        { name: 'MAIL_FROM', encrypted: false, version: 1, setAt: at, setBy: null, value: 'a@example.org' },
        {
          name: 'JWT_ACCESS_TOKEN_SECRET',
          encrypted: true,
          version: 3,
          setAt: at,
          setBy: { kind: 'user', id: 'user-1' },
        },
      ],
    },
  },
  'POST /spaces/dev/env': none,
  'DELETE /spaces/dev/env/MAIL_FROM': none,
  'GET /spaces/dev/releases': {
    body: { items: [release(16, 'current'), release(15, 'former'), release(14, 'failed')] },
  },
  'POST /spaces/dev/releases': deployed,
  'POST /spaces/dev/releases/15/activate': ndjson(
    { step: 'started', ms: 400 },
    { done: true, release: 15, warnings: [] },
  ),
  'DELETE /spaces/dev/releases/current': none,
  'POST /spaces/dev/take-over': {
    body: { kind: 'deploy', by: { kind: 'adminToken', id: 'a41f3c0d9e8b7a65' }, since: '2026-11-24T12:00:00.000Z' },
  },
  'GET /spaces/dev/logs': ndjson(
    { at: '2026-11-24T12:00:01.223Z', level: 'info', text: 'started' },
    { at: '2026-11-24T12:00:02.001Z', level: 'error', text: 'no \u001b[31mluck' },
    { end: { count: 2 } },
  ),
  'GET /spaces/dev/tokens': page(token),
  'POST /spaces/dev/tokens': ({ body }) => ({
    status: 201,
    body: { ...token, access: body.access, token: '6f0e1b52-3c4d-4e5f-8a9b-0c1d2e3f4a5b' },
  }),
  'GET /spaces/dev/access': { body: access },
  'POST /spaces/dev/access/jwks/check': { body: { ok: true, keys: [{ kid: 'k1', alg: 'RS256', use: 'sig' }] } },
  'POST /spaces/dev/access/jwks': ({ body }) => ({ body: { ...access, jwksUrl: body.url } }),
  'POST /spaces/dev/access/networks': { body: access },
}

export async function startHostControlServer(): Promise<HostControlServer> {
  const answers = new Map<string, HostAnswer>(Object.entries(honest))
  const seen: SeenByHost[] = []
  let received = 0
  let isHeld = false

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<Reply | null> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const path = pathname.replace(/^\/auth\/admin\/api/, '') || '/'
    const isArchive = request.headers['content-type'] === 'application/gzip'
    const chunks: Buffer[] = []
    for await (const chunk of request) {
      chunks.push(Buffer.from(chunk))
      if (isArchive) received += chunk.length
      if (isArchive && isHeld) await once(request, 'close')
    }
    const bytes = Buffer.concat(chunks)
    const body = isArchive || bytes.length === 0 ? {} : JSON.parse(bytes.toString())
    const route = `${request.method} ${path}`
    const one = { route, query: searchParams, headers: request.headers, body, bytes: bytes.length }
    seen.push(one)
    const answer = answers.get(route)
    const refusal = refuse(one) ?? (answer === undefined ? problem(404, 'not_found') : null)
    if (refusal !== null) return refusal
    return typeof answer === 'function' ? answer(one, response) : (answer ?? none)
  }

  const server = createServer((request, response) => {
    reply(request, response).then(
      (given) => {
        if (given === null) return
        const { status = 200, body, headers = {} } = given
        response.writeHead(status, { 'content-type': 'application/json', ...headers })
        response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
      },
      () => response.destroy(), // The client left.
    )
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
    received: () => received,
    holdUploads() {
      isHeld = true
    },
    to: (route) => seen.filter((each) => each.route === route),
    answer: (route, answer) => answers.set(route, answer),
  }
}

/** What the host refuses before the route runs. */
function refuse({ route, headers, body }: SeenByHost): Reply | null {
  const pattern = patternOf(route)
  const given = headers['x-admintoken']
  if (given !== undefined && headers.authorization !== undefined) return problem(400, 'invalid_request')
  if (given === undefined && headers.authorization !== 'Bearer access-1') return problem(401, 'unauthenticated')
  if (given !== undefined && given !== adminToken) return problem(401, 'invalid_token')
  if (given !== undefined && !forTokens.includes(pattern)) return problem(403, 'admin_token_not_for_this')
  const fields = bodies[pattern] ?? []
  const unknown = Object.keys(body).filter((name) => !fields.some((field) => field.replace('?', '') === name))
  const missing = fields.filter((field) => !field.endsWith('?') && body[field] === undefined)
  const faults = [...unknown, ...missing].map((path) => ({ path, message: 'is unknown or missing' }))
  return faults.length === 0 ? null : problem(400, 'invalid_request', { errors: faults })
}

/** A route with its ids as names. */
function patternOf(route: string): string {
  return route
    .replace(/ \/spaces\/[^/]+/, ' /spaces/:space')
    .replace(/(\/releases\/)\d+/, '$1:id')
    .replace(/(\/project\/users|^\w+ \/teams|\/members|\/admintokens)\/[^/]+/, '$1/:id')
}
