import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Route } from '../../../src/http/route.js'
import { controlRoutes } from '../../../src/routes/admin/index.js'
import { administrator, callers } from '../../support/administrators.js'
import { askedTool } from '../../support/asked-device.js'
import { ada } from '../../support/auth.js'
import { enrol } from '../../support/totp.js'

type Callers = Awaited<ReturnType<typeof callers>>
type Caller = keyof Callers['by']

/** A request that the administrator may send: where, with what, and what follows. */
interface Example {
  /** Values of the `:name` segments, the query and the body. */
  prepare?(world: Callers): Promise<{ params?: Record<string, string>; query?: string; body?: unknown }>
  body?: unknown
  status: number
  /** How many audit events the request writes. `first`: one, and the next requests of this user none. */
  events: number | 'first'
  /** The status of the same request once more, which writes no event. Default: 404 for DELETE; others are not repeated. */
  again?: number
}

const newcomer = 'grace@example.test'
const createUser = async ({ world }: Callers) =>
  ({ params: { id: (await world.auth.users.create({ email: newcomer, emailVerified: true })).id } }) as const
const createToken = async ({ world }: Callers) => ({
  params: { id: (await world.auth.apiTokens.create({ name: 'old' })).id },
})

/** One row for each route. A route without a row fails. */
const examples: Readonly<Record<string, Example>> = {
  'GET ': { status: 200, events: 0 },
  'GET /openapi.json': { status: 200, events: 0 },
  'POST /device': { body: { challenge: 'c'.repeat(43), client: 'ann-laptop' }, status: 201, events: 1 },
  'POST /device/token': {
    async prepare({ world, by }) {
      const { handle, verifier, userCode } = await askedTool(world.client({ as: 'server' }))
      await by.ADMIN.post('/auth/admin/api/device/answer', { userCode, approve: true })
      return { body: { handle, verifier } }
    },
    status: 200,
    events: 1,
  },
  'POST /device/lookup': {
    async prepare({ world }) {
      return { body: { userCode: (await askedTool(world.client({ as: 'server' }))).userCode } }
    },
    status: 200,
    events: 0,
  },
  'POST /device/answer': {
    async prepare({ world }) {
      return { body: { userCode: (await askedTool(world.client({ as: 'server' }))).userCode, approve: true } }
    },
    status: 204,
    events: 1,
  },
  'GET /tokens': { status: 200, events: 0 },
  'POST /tokens': { body: { name: 'report', access: 'READ' }, status: 201, events: 1 },
  'DELETE /tokens/:id': { prepare: createToken, status: 204, events: 1 },
  'POST /tokens/:id/rotate': { prepare: createToken, body: { overlap: '1d' }, status: 201, events: 1 },
  'GET /access': { status: 200, events: 0 },
  'POST /access/jwks': { body: { url: 'https://issuer.example/keys' }, status: 200, events: 1, again: 200 },
  'POST /access/jwks/check': { body: { url: 'http://127.0.0.1:9/keys' }, status: 200, events: 0 },
  'POST /access/networks': { body: { network: '127.0.0.0/8' }, status: 200, events: 1, again: 200 },
  'DELETE /access/networks': {
    async prepare({ world }) {
      await world.auth.access.allow('127.0.0.1')
      return { body: { network: '127.0.0.1', confirm: 'everyone' } }
    },
    status: 204,
    events: 1,
  },
  'GET /users': { status: 200, events: 0 },
  'POST /users': { body: { email: newcomer, roles: ['EDITOR'] }, status: 201, events: 1 },
  'GET /users/:id': { prepare: createUser, status: 200, events: 0 },
  'PATCH /users/:id': { prepare: createUser, body: { name: 'Grace' }, status: 200, events: 1 },
  'DELETE /users/:id': { prepare: createUser, body: { confirm: newcomer }, status: 204, events: 1 },
  'POST /users/:id/disable': {
    prepare: createUser,
    body: { reason: 'asked for it' },
    status: 200,
    events: 1,
    again: 200,
  },
  'POST /users/:id/enable': {
    async prepare(world) {
      const { params } = await createUser(world)
      await world.world.auth.users.disable(params.id)
      return { params }
    },
    status: 200,
    events: 1,
    again: 200,
  },
  'POST /users/:id/reset-password': { prepare: createUser, status: 202, events: 1 },
  'POST /users/:id/verification': {
    async prepare({ world }) {
      return { params: { id: (await world.auth.users.create({ email: newcomer })).id } }
    },
    status: 202,
    events: 1,
  },
  'DELETE /users/:id/sessions': {
    async prepare({ by }) {
      const { body } = await by.user.get<{ user: { id: string } }>('/auth/me')
      return { params: { id: body.user.id } }
    },
    status: 204,
    events: 1,
    // The list of sessions is there, and empty.
    again: 204,
  },
  'DELETE /users/:id/sessions/:sid': {
    async prepare({ by }) {
      const { body } = await by.user.get<{ user: { id: string }; session: { id: string } }>('/auth/me')
      return { params: { id: body.user.id, sid: body.session.id } }
    },
    status: 204,
    events: 1,
  },
  'DELETE /users/:id/two-factor': {
    async prepare({ world, by }) {
      await enrol(by.user, ada.password, world.runtime.clock)
      const { body } = await by.user.get<{ user: { id: string } }>('/auth/me')
      return { params: { id: body.user.id } }
    },
    status: 204,
    events: 1,
  },
  'POST /users/:id/impersonate': {
    prepare: createUser,
    body: { reason: 'The user asked for help.' },
    status: 200,
    events: 1,
  },
  'GET /sessions': { status: 200, events: 0 },
  'DELETE /sessions/:id': {
    async prepare({ by }) {
      const { body } = await by.user.get<{ session: { id: string } }>('/auth/me')
      return { params: { id: body.session.id } }
    },
    status: 204,
    events: 1,
  },
  'GET /audit': { status: 200, events: 'first' },
  'GET /audit.jsonl': { status: 200, events: 'first' },
  'POST /audit/verify': { status: 200, events: 1 },
  'GET /mail': { status: 200, events: 0 },
  'POST /mail/:id/retry': { prepare: waitingMail, status: 204, events: 1 },
  'DELETE /mail/:id': { prepare: waitingMail, status: 204, events: 1 },
  'GET /templates': { status: 200, events: 0 },
  'GET /templates/:kind/:name': {
    prepare: async () => ({ params: { kind: 'mail', name: 'otp' }, query: '?locale=de' }),
    status: 200,
    events: 0,
  },
  'GET /settings': { status: 200, events: 0 },
  'GET /health': { status: 200, events: 0 },
  'GET /doctor': { status: 200, events: 0 },
  'GET /doctor/echo': { status: 200, events: 0 },
}

const browsers = new Set<Caller>(['user', 'ADMIN', 'ADMIN, not recent', 'ADMIN without second factor'])

/** The status and code of each caller, derived from the row of the table. */
function expected(route: Route, caller: Caller, example: Example): { status: number; code?: string } {
  const recent = route.control?.recent === true
  const done = { status: example.status }
  if (route.control?.who === 'open') return browsers.has(caller) ? { status: 403, code: 'forbidden' } : done
  const answers: Readonly<Record<Caller, { status: number; code?: string }>> = {
    'no credential': { status: 401, code: 'unauthenticated' },
    user: { status: 403, code: 'forbidden' },
    'API token READ': { status: 403, code: route.method === 'GET' ? 'forbidden' : 'insufficient_access' },
    'API token READWRITE': { status: 403, code: 'forbidden' },
    // Our own routes read neither tokens of another issuer nor the hook.
    JWT: { status: 401, code: 'unauthenticated' },
    hook: { status: 401, code: 'unauthenticated' },
    'ADMIN without second factor': { status: 403, code: 'two_factor_enrolment_required' },
    impersonating: { status: 403, code: 'impersonation_forbidden' },
    'ADMIN, not recent': recent ? { status: 403, code: 'recent_login_required' } : done,
    ADMIN: done,
  }
  return answers[caller]
}

const nameOf = ({ method, path }: Route) => `${method} ${path.slice('/admin/api'.length)}`

describe('ATK-113 every route of the control API, for every caller', () => {
  test('each has a row', () => {
    expect(Object.keys(examples)).toEqual(controlRoutes.map(nameOf))
  })

  test.each(controlRoutes.map((route) => [nameOf(route), route] as const))(
    '%s',
    { timeout: 30_000 },
    async (name, route) => {
      const example = examples[name]
      if (example === undefined) throw new Error(`${name} has no row`)
      const all = await callers({
        admin: { emails: [administrator.email, 'second@example.test'], twoFactor: true, impersonation: {} },
      })
      const { params = {}, query = '', body = example.body } = (await example.prepare?.(all)) ?? {}
      const path = route.path.replaceAll(/:(\w+)/g, (_, key: string) => params[key] ?? 'missing')
      let reads = 0
      const events = async () => (await all.world.auth.audit.list({ limit: 200 })).items.length

      for (const [caller, client] of Object.entries(all.by).filter(isCaller)) {
        const wanted = expected(route, caller, example)
        const refused = wanted.code !== undefined
        const whoMay = route.control?.who === 'open' ? 'no credential' : 'ADMIN'
        if (!refused && caller !== whoMay && route.method !== 'GET') continue
        const before = await events()
        const answer = await send(client, route.method, `/auth${path}${query}`, body)
        expect({ caller, status: answer.status, code: codeOf(answer.body) }).toEqual({
          caller,
          code: undefined,
          ...wanted,
        })
        expect(answer.headers.get('cache-control')).toBe('no-store')
        expect((await events()) - before, caller).toBe(
          refused ? 0 : example.events === 'first' ? Number(reads === 0) : example.events,
        )
        const schema = route.answers?.[answer.status]
        if (!refused && schema instanceof z.ZodType) schema.parse(answer.body)
        if (!refused) reads += 1
        const again = example.again ?? (route.method === 'DELETE' ? 404 : undefined)
        if (refused || again === undefined) continue
        const counted = await events()
        expect((await send(client, route.method, `/auth${path}${query}`, body)).status).toBe(again)
        expect(await events(), 'events of the same request once more').toBe(counted)
      }
    },
  )

  test('the allow-list comes before everything, for every caller', async () => {
    const all = await callers()
    await all.world.auth.access.allow('192.0.2.7')
    for (const client of Object.values(all.by)) {
      const answer = await client.get('/auth/admin/api/tokens')
      expect([answer.status, codeOf(answer.body)]).toEqual([403, 'ip_not_allowed'])
    }
    const elsewhere = await all.world.signInAsAdmin({ ip: '192.0.2.7' })
    expect((await elsewhere.get('/auth/admin/api/tokens')).status).toBe(200)
  })

  test('without an administrator in the settings every route is a 404', async () => {
    const all = await callers({ admin: { enabled: false, emails: [administrator.email] } })
    for (const { method, path } of controlRoutes) {
      expect((await send(all.by.ADMIN, method, `/auth${path}`, {})).status, path).toBe(404)
    }
  })
})

function isCaller(entry: [string, unknown]): entry is [Caller, Callers['by'][Caller]] {
  return entry.length === 2
}

async function send(client: Callers['by'][Caller], method: Route['method'], path: string, body: unknown) {
  if (method === 'GET') return client.get(path)
  if (method === 'POST') return client.post(path, body)
  return method === 'PATCH' ? client.patch(path, body) : client.delete(path, body)
}

function codeOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
}

/** A mail that waits because its server is down. */
async function waitingMail({ world, by }: Callers) {
  world.mailServer.isDown = true
  await world.client().post('/auth/password/forgot', { email: administrator.email })
  const { body } = await by.ADMIN.get<{ items: { id: string }[] }>('/auth/admin/api/mail')
  return { params: { id: body.items[0]?.id ?? '' } }
}
