import { describe, expect, test } from 'vitest'
import { adminCommands } from '../../../src/contract/admin-command.js'
import { errorTable } from '../../../src/errors.js'
import { json } from '../../../src/http/problem.js'
import type { Route } from '../../../src/http/route.js'
import type { AdminTokenCaller } from '../../../src/ports.js'
import { defineTokenRoute } from '../../../src/routes/admin/control-route.js'
import { controlRoutes } from '../../../src/routes/admin/index.js'
import { ada, testAuth } from '../../support/auth.js'
import { dev, hostAuth, prod, stubTokens } from '../../support/host-auth.js'

const api = '/auth/admin/api'

/** Stands for a route of the host: it tells who called it. */
const exportRoute: Route = defineTokenRoute({
  method: 'GET',
  path: '/exported',
  body: null,
  home: 'space',
  who: 'admin',
  recent: true,
  adminToken: 'export',
  command: 'export',
  summary: 'Exports.',
  answers: { 200: 'lines' },
  handle: async ({ caller }) => json(200, { kind: caller.kind, ...caller.visitor }),
})

/** A host with one admin token, whose text is `good`. */
async function host(token: Partial<AdminTokenCaller> = {}) {
  const { asked, adminTokens } = stubTokens({ good: token })
  const settings = { trustedOrigins: ['https://desk.example.test'] }
  const made = await hostAuth({ adminTokens, settings, routes: [exportRoute] })
  const program = made.client({ as: 'server' })
  const send = (method: 'get' | 'post' | 'delete', path: string, headers: Record<string, string> = {}) => {
    const options = { headers: { 'x-admintoken': 'good', ...headers } }
    if (method === 'get') return program.get(api + path, options)
    return program[method](api + path, {}, options)
  }
  const refusals = async () => (await made.events()).filter(({ event }) => event === 'admin_token_refused')
  return { ...made, asked, program, send, refusals }
}

const forbidden = (code: string) => ({ status: 403, body: { code } })

describe('ATK-127 an admin token outside the nine', () => {
  test('ATK-127 is good for a route that names a command, and acts as itself there', async () => {
    const { send } = await host()
    expect(await send('get', '/spaces/dev/exported')).toMatchObject({
      status: 200,
      body: { kind: 'adminToken', actor: { kind: 'adminToken', tokenId: 'id-good' }, space: dev },
    })
  })

  test('ATK-127 every other route of the control API refuses it, the open ones too', async () => {
    const { send, asked } = await host()
    const routes = controlRoutes.filter(({ control }) => control?.home !== 'application' && !control?.adminToken)
    expect(routes.length).toBeGreaterThan(30)
    for (const { method, path, control } of routes) {
      const below = path.slice('/admin/api'.length).replaceAll(/:\w+/g, 'x')
      const verb = method === 'GET' ? 'get' : method === 'DELETE' ? 'delete' : 'post'
      if (method === 'PATCH') continue
      const answer = await send(verb, control?.home === 'space' ? `/spaces/dev${below}` : below)
      // A body that the route would not take is refused first; then nothing was looked up.
      if (answer.status === 400) continue
      expect({ path, ...answer }).toMatchObject({ path, ...forbidden('admin_token_not_for_this') })
    }
    expect(asked.length).toBeGreaterThan(20)
  })

  test('ATK-127 the audit log has one event a minute and token, which names the route', async () => {
    const { send, refusals, runtime } = await host()
    for (let turn = 0; turn < 3; turn += 1) await send('get', '/users')
    await send('get', '/audit')
    expect(await refusals()).toEqual([
      {
        event: 'admin_token_refused',
        actor: { kind: 'adminToken', tokenId: 'id-good' },
        detail: { route: 'GET /users' },
      },
    ])
    await runtime.clock.advance('61s')
    await send('get', '/audit')
    expect(await refusals()).toHaveLength(2)
  })

  test('ATK-127 the sentence of the refusal names the nine', () => {
    const [, sentence] = errorTable.admin_token_not_for_this
    expect(sentence).toContain(`${adminCommands.slice(0, -1).join(', ')} and ${adminCommands.at(-1)} only`)
  })

  test('ATK-127 of the routes that an application and the host share, the root alone takes one', () => {
    const open = controlRoutes.filter(({ control }) => control?.adminToken !== undefined)
    expect(open.map(({ method, path, control }) => [method, path, control?.adminToken])).toEqual([
      ['GET', '/admin/api', 'any'],
    ])
  })
})

test('the root shows an admin token its own row, and no user', async () => {
  const { send } = await host({ spaces: [dev.id], commands: ['deploy'] })
  const { body } = await send('get', '')
  expect(body).toEqual({
    home: 'host',
    version: expect.any(String),
    adminToken: { id: 'id-good', name: 'good', spaces: [dev.id], commands: ['deploy'] },
  })
})

describe('ATK-128 how an admin token is presented', () => {
  const path = `${api}/spaces/dev/exported`

  test.each([
    ['x-apikey', { 'x-apikey': 'good' }],
    ['Bearer', { authorization: 'Bearer good' }],
    ['Basic', { authorization: `Basic ${Buffer.from('good:').toString('base64')}` }],
    ['cookie', { cookie: 'x-admintoken=good' }],
  ])('ATK-128 as %s it is never looked up', async (_, headers) => {
    const { program, asked } = await host()
    const { status } = await program.get(path, { headers })
    expect([status === 401 || status === 403, asked]).toEqual([true, []])
  })

  test('ATK-128 in the query, or twice, it is never looked up', async () => {
    const { program, asked, auth } = await host()
    for (const query of ['apikey=good', 'x-admintoken=good']) {
      expect([401, 403]).toContain((await program.get(`${path}?${query}`)).status)
    }
    const twice = await auth.handle({
      method: 'GET',
      path,
      query: '',
      mount: '',
      headers: { host: 'localhost:3000', 'x-admintoken': 'good, good' },
      rawHeaders: ['Host', 'localhost:3000', 'X-AdminToken', 'good', 'x-admintoken', 'good'],
      ip: '127.0.0.1',
      body: { kind: 'stream', read: async () => new Uint8Array() },
      native: null,
    })
    expect(twice).toMatchObject({ kind: 'answer', response: { status: 401 } })
    expect(asked).toEqual([])
  })

  test('ATK-128 an unknown one is 401', async () => {
    const { send, asked } = await host()
    expect((await send('get', '/users', { 'x-admintoken': 'GOOD' })).status).toBe(401)
    expect(asked).toEqual(['GOOD'])
  })
})

test('ATK-129 beside a session neither decides', async () => {
  const { client, rights, asked, send } = await host()
  const browser = client()
  const { body } = await browser.signUp(ada)
  rights.set(body.user.id, 'ADMIN')
  const cookie = browser.cookies.header(new URL('http://localhost:3000/auth/admin/api')) ?? ''
  expect(cookie).not.toBe('')
  for (const headers of [{ cookie }, { authorization: 'Bearer x' }, { authorization: 'bearer' }]) {
    expect(await send('get', '/spaces/dev/exported', headers)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'x-admintoken' }] },
    })
    expect((await send('post', '/users', headers)).status).toBe(400)
  }
  expect(asked).toEqual([])
})

describe('ATK-130 an admin token from a page', () => {
  test.each([
    { origin: 'http://localhost:3000' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-mode': 'no-cors' },
  ])('ATK-130 %o is refused before any look-up', async (headers) => {
    const { send, asked } = await host()
    expect(await send('get', '/spaces/dev/exported', headers)).toMatchObject(forbidden('forbidden'))
    expect(await send('post', '/users', headers)).toMatchObject(forbidden('forbidden'))
    expect(asked).toEqual([])
  })

  test('ATK-130 a page view is refused in words', async () => {
    const { send, asked } = await host()
    expect((await send('get', '/users', { 'sec-fetch-mode': 'navigate' })).status).toBe(403)
    expect(asked).toEqual([])
  })

  test('ATK-130 Node’s own fetch works, and no preflight allows the header', async () => {
    const { send, auth } = await host()
    expect((await send('get', '/spaces/dev/exported', { 'sec-fetch-mode': 'cors' })).status).toBe(200)
    const preflight = await auth.handle({
      ...{ method: 'OPTIONS', path: `${api}/users`, query: '', mount: '', rawHeaders: null, ip: null, native: null },
      headers: {
        origin: 'https://desk.example.test',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-admintoken',
      },
      body: { kind: 'stream', read: async () => new Uint8Array() },
    })
    expect(JSON.stringify(preflight)).toContain('allow-headers')
    expect(JSON.stringify(preflight)).not.toMatch(/admintoken/i)
  })
})

describe('ATK-135 a narrowed admin token', () => {
  test('ATK-135 to a space, it is good there alone and does not learn of others', async () => {
    const { send, refusals } = await host({ spaces: [dev.id] })
    expect((await send('get', '/spaces/dev/exported')).status).toBe(200)
    for (const space of [prod.name, 'unknown']) {
      const answer = await send('get', `/spaces/${space}/exported`)
      expect(answer).toMatchObject(forbidden('admin_token_not_for_this'))
      expect(answer).toMatchObject({ body: { detail: 'This admin token is not for this space.' } })
    }
    expect(await refusals()).toHaveLength(1)
  })

  test('ATK-135 to a command, it is good for that one', async () => {
    const { send } = await host({ commands: ['query'] })
    const answer = await send('get', '/spaces/dev/exported')
    expect(answer).toMatchObject(forbidden('admin_token_not_for_this'))
    expect(answer).toMatchObject({ body: { detail: 'This admin token is not for export.' } })
    expect((await (await host({ commands: ['export'] })).send('get', '/spaces/dev/exported')).status).toBe(200)
  })

  test('ATK-135 that is not narrowed gets 404 for a space that does not exist', async () => {
    const { send } = await host()
    expect(await send('get', '/spaces/unknown/exported')).toMatchObject({ body: { code: 'space_not_found' } })
  })
})

test('ATK-136 an admin token makes no token and no administrator', async () => {
  const { program, store } = await host()
  const headers = { 'x-admintoken': 'good' }
  const made = await program.post(`${api}/spaces/dev/tokens`, { name: 'more' }, { headers })
  expect(made).toMatchObject(forbidden('admin_token_not_for_this'))
  const added = await program.post(`${api}/users`, { email: 'eve@example.test' }, { headers })
  expect(added).toMatchObject(forbidden('admin_token_not_for_this'))
  expect(await store.at(dev.id).apiTokens.list({ after: null, limit: 10 })).toEqual([])
})

test('a signed-in administrator calls the same route, with a recent sign-in', async () => {
  const { client, rights, runtime } = await host()
  const browser = client()
  const { body } = await browser.signUp(ada)
  rights.set(body.user.id, 'ADMIN')
  expect((await browser.get(`${api}/spaces/dev/exported`)).body).toMatchObject({ kind: 'session', space: dev })
  await runtime.clock.advance('14m')
  expect((await browser.get(`${api}/spaces/dev/exported`)).body).toMatchObject({ code: 'recent_login_required' })
})

test('an application does not look at the header', async () => {
  const { client } = await testAuth()
  const program = client({ as: 'server', headers: { 'x-admintoken': 'good', origin: 'http://localhost:3000' } })
  expect((await program.get('/auth/me')).status).toBe(401)
})
