import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { AuthError } from '../../src/index.js'
import { routes } from '../../src/routes/index.js'
import { createTestClient, type TestClient, type TestClientOptions } from '../../src/testing.js'
import { ada, testAuth } from '../support/auth.js'
import { createAuthenticator } from '../support/authenticator.js'
import { adaAtGoogle, comeBack, enterAs, goTo, type OAuthWorld, oauthWorld } from '../support/oauth.js'
import { type HeldAuth, heldToDocument, type Listed, listed, lookUp, type Spec } from '../support/openapi.js'
import { addPasskey, passkeyLogin, requestOptions } from '../support/passkey-browser.js'
import { enrol, firstStep, totpCode } from '../support/totp.js'

/** Pages, what they load, and what shows mails and routes to developers: nobody programs against these. */
const noInterface = new Set([
  ...['/login', '/register', '/verify-email', '/otp', '/forgot', '/reset', '/email-change', '/email-undo'],
  ...['/two-factor', '/two-factor/setup', '/register/identity', '/account', '/passkeys/new', '/signed-out', '/error'],
  ...['/assets/:file', '/dev/mailbox', '/docs'],
  ...['/.well-known/webauthn', '/.well-known/passkey-endpoints', '/.well-known/change-password'],
])

const plenty = { ip: '10000/1m', account: '10000/1m' }
const unhindered = { login: plenty, mail: plenty, guess: plenty, other: { ip: plenty.ip } }

/** Whoever asks by `ask`, every answer is held to the document. */
interface World extends OAuthWorld {
  held: HeldAuth
  ask(options?: TestClientOptions): TestClient
}

async function world(overrides: Parameters<typeof oauthWorld>[0] = {}): Promise<World> {
  const made = await oauthWorld({ limits: unhindered, ...overrides })
  const held = await heldToDocument(made.auth)
  const { mailbox, runtime } = made
  return { ...made, held, ask: (options) => createTestClient(held, { mailbox, clock: runtime.clock, ...options }) }
}

/** The document of an application with these settings. */
async function documentOf(
  overrides: Parameters<typeof testAuth>[0] = {},
  address = '/auth/openapi.json',
): Promise<Spec> {
  const { client } = await testAuth(overrides)
  const { baseUrl } = overrides
  const answer = await client(baseUrl === undefined ? {} : { baseUrl }).get<Spec>(address)
  expect(answer.status).toBe(200)
  return answer.body
}

describe('the document', () => {
  test('has every route of the table but those for people', async () => {
    const { held } = await world()
    const interfaces = routes.filter(
      ({ method, path, control }) => !control && (method !== 'GET' || !noInterface.has(path)),
    )
    const paths = interfaces.flatMap(({ method, path, aliases = [] }) =>
      [path, ...aliases].map((each) => `${method} ${each.replaceAll(/:(\w+)/g, '{$1}')}`),
    )
    expect(
      listed(held.spec)
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual(paths.sort())
  })

  test('is sound: references lead somewhere, names are unique, parameters of paths are declared', async () => {
    const spec = await documentOf({ limits: {} })
    expect(spec.openapi).toBe('3.1.1')
    const references = [...JSON.stringify(spec).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference)
    expect(references.length).toBeGreaterThan(100)
    expect(references.filter((reference) => lookUp(spec, reference) === undefined)).toEqual([])

    const operations = listed(spec)
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { path, method, operation } of operations) {
      const named = operation.parameters.filter((one) => one.in === 'path' && one.required).map(({ name }) => name)
      expect(named, path).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      expect(operation.requestBody === undefined, `${method} ${path}`).toBe(method === 'GET' || isBare(path, method))
      for (const needed of operation.security.flatMap(Object.keys)) {
        expect(Object.keys(spec.components.securitySchemes ?? {})).toContain(needed)
      }
    }
    for (const kind of Object.values(spec.components)) {
      for (const name of Object.keys(kind)) expect(name).toMatch(/^[\w.-]+$/)
    }
  })

  test('groups its operations by tags that it describes, and has no component that nothing refers to', async () => {
    const spec = await documentOf({ limits: {} })
    const tags = listed(spec).map(({ operation }) => operation.tags)
    expect(tags.filter(({ length }) => length !== 1)).toEqual([])
    expect([...new Set(tags.flat())].sort()).toEqual(spec.tags.map(({ name }) => name).sort())
    expect(spec.tags.filter(({ description }) => !/^[A-Z].*\.$/.test(description))).toEqual([])

    const text = JSON.stringify(spec)
    for (const kind of ['schemas', 'responses', 'parameters', 'headers', 'examples'] as const)
      for (const name of Object.keys(spec.components[kind]))
        expect(text, name).toContain(`"$ref":"#/components/${kind}/${name}"`)
  })

  test('describes every parameter, and every field of a body or answer that has a name of its own', async () => {
    const spec = await documentOf({ limits: {} })
    for (const { operation, path } of listed(spec))
      for (const parameter of operation.parameters.filter(({ in: place }) => place !== 'path' && place !== undefined))
        expect(parameter.description, `${path} ${parameter.name}`).toMatch(/\.$/)
    for (const schema of Object.values(spec.components.schemas)) expect(undescribed(schema)).toEqual([])
  })

  test('has schemas that are ones by draft 2020-12', async () => {
    const spec = await documentOf()
    const ajv = new Ajv2020()
    for (const [name, schema] of Object.entries(spec.components.schemas ?? {})) {
      expect(ajv.validateSchema(schema), `${name}: ${ajv.errorsText()}`).toBe(true)
    }
    expect(spec.components.schemas).toMatchObject({
      PostLoginBody: { required: ['email', 'password'], properties: { email: { type: 'string', maxLength: 320 } } },
      User: { properties: { createdAt: { type: 'string', format: 'date-time' } } },
    })
  })

  test('says what is so by the settings: server, cookies, limits, and what is turned off', async () => {
    const away = {
      baseUrl: 'https://app.example.com/service',
      basePath: '/account',
      limits: {},
      otp: { enabled: false },
    }
    const spec = await documentOf({ ...away, brand: { name: 'Notes' } }, '/account/openapi.json')
    expect(spec).toMatchObject({
      info: { title: 'Notes: accounts and sessions' },
      servers: [{ url: 'https://app.example.com/service/account' }],
      components: {
        securitySchemes: {
          accessCookie: { type: 'apiKey', in: 'cookie', name: '__Host-access-token' },
          refreshCookie: { name: '__Secure-refresh-token' },
          accessToken: { type: 'http', scheme: 'bearer' },
        },
      },
    })
    const paths = Object.keys(spec.paths)
    expect(paths).toContain('/login')
    expect(paths.filter((path) => /^\/otp|oauth/.test(path))).toEqual([])
    expect(spec.paths['/me']?.get?.responses['200']?.headers).toHaveProperty('RateLimit')
    const unlimited = await documentOf({ limits: false })
    expect(unlimited.paths['/me']?.get?.responses['200']?.headers).not.toHaveProperty('RateLimit')
  })

  test('is of the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(await documentOf()).toMatchObject({ info: { version } })
  })

  test('is for everybody, in production too, and kept by nobody', async () => {
    const { client } = await testAuth({ baseUrl: 'https://app.example.com' })
    const anybody = client({ as: 'server', baseUrl: 'https://app.example.com' })
    const answer = await anybody.get('/auth/openapi.json')
    expect(answer).toMatchObject({ status: 200, cookies: [] })
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect((await anybody.get('/auth/docs')).status).toBe(404)
  })
})

describe('the reference page', () => {
  test('has every route and schema of the document, grouped by its tags, and nothing from elsewhere', async () => {
    const { client } = await testAuth({ brand: { name: 'Notes' } })
    const spec = (await client().get<Spec>('/auth/openapi.json')).body
    const page = await client().open('/auth/docs')
    expect(page.status).toBe(200)
    for (const { method, path, operation } of listed(spec)) {
      expect(page.text).toContain(`<details class="operation" id="${operation.operationId}">`)
      expect(page.text).toContain(`<span class="badge">${method}</span> <code>/auth${path}</code>`)
    }
    for (const { name, description } of spec.tags) {
      const id = `group-${name.toLowerCase()}`
      expect(page.text).toContain(`<a href="#${id}" lang="en" dir="ltr">${name}</a>`)
      const group = page.text.slice(page.text.indexOf(`<section class="panel group" id="${id}"`))
      expect(group.slice(0, group.indexOf('<details'))).toContain(description)
      const inGroup = [
        ...group.slice(0, group.indexOf('</section>')).matchAll(/<details class="operation" id="(\w+)"/g),
      ]
      const tagged = listed(spec).filter(({ operation }) => operation.tags.includes(name))
      expect(inGroup.map(([, id]) => id)).toEqual(tagged.map(({ operation }) => operation.operationId))
    }
    const links = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href)
    const within = links.filter((href) => href.startsWith('#'))
    expect(within).toContain('#SessionAnswer')
    for (const href of within) expect(page.text).toContain(`id="${href.slice(1)}"`)
    const outside = links.filter((href) => !href.startsWith('#'))
    expect(outside).toEqual([
      expect.stringMatching(/^\/auth\/assets\/latchkey\.\w+\.svg$/),
      expect.stringMatching(/^\/auth\/assets\/latchkey\.\w+\.css$/),
      expect.stringMatching(/^\/auth\/assets\/development\.\w+\.css$/),
      '/auth/openapi.json',
    ])
    expect(page.text).not.toMatch(/<script(?! src="\/auth\/assets\/latchkey)|<img|https?:/)
  })

  test('tells what to send, what comes back, and what may go wrong', async () => {
    const { client } = await testAuth()
    const { text } = await client().open('/auth/docs')
    const part = (id: string) =>
      text.slice(text.indexOf(`id="${id}"`), text.indexOf('</details>', text.indexOf(`id="${id}"`)))
    expect(part('postLogin')).toMatch(/<dt><code>email<\/code><\/dt><dd><code>string \(0–320\)<\/code>/)
    expect(part('postLogin')).toMatch(/#SessionAnswer[\s\S]*class="or"[\s\S]*#TwoFactorRequired/)
    expect(part('postLogin')).toMatch(/<dt><code>401<\/code><\/dt><dd><code>invalid_credentials<\/code><\/dd>/)
    expect(part('postLogin')).not.toContain('Needs a signed-in user')
    expect(part('getMe')).toContain('Needs a signed-in user')
    expect(part('postRefreshtoken')).toContain('The same as')
    expect(part('postRegister')).toContain('And the fields of the application.')
    expect(part('User')).toMatch(/<code>lastLoginAt<\/code><\/dt><dd><code>date-time \| null<\/code>/)
  })
})

/** Names of the properties of a schema without a description, but for constants and references. */
function undescribed(schema: object): string[] {
  const properties = 'properties' in schema ? Object.entries(schema.properties ?? {}) : []
  return properties.filter(([, of]) => !('description' in of || '$ref' in of || 'const' in of)).map(([name]) => name)
}

/** Changes nothing but what its address names. */
function isBare(path: string, method: string): boolean {
  return path === '/impersonation/stop' || (method === 'DELETE' && path.startsWith('/sessions'))
}

describe('the running routes, held to the document', () => {
  test('each have succeeded and been refused as it says', async () => {
    const here = await world()
    const { held } = here
    await registrations(here)
    await sessions(here)
    await changes(here)
    await codes(here)
    await secondFactors(here)
    await passkeys(here)
    await providers(here)
    await unread(held)
    await unknown(held)

    const statuses = (method: string, path: string) =>
      [...held.seen].filter((line) => line.startsWith(`${method} ${path} `)).map((line) => Number(line.split(' ')[2]))
    const lacking = listed(held.spec).filter(({ method, path }) => {
      const seen = statuses(method, path)
      return !seen.some((status) => status < 400) || !seen.some((status) => status >= 400)
    })
    expect(lacking.map(({ method, path }) => `${method} ${path}: ${statuses(method, path)}`)).toEqual([])
  })

  test('are limited as it says', async () => {
    const { ask } = await world({ limits: { login: { ip: '2/1m', account: '10/15m' } } })
    const browser = ask()
    const statuses = []
    for (let turn = 0; turn < 3; turn += 1) statuses.push((await browser.post('/auth/login', ada)).status)
    expect(statuses).toEqual([401, 401, 429])
  })

  test('refuse with what a hook says, and with a failed hook only where there is one', async () => {
    const codes = (spec: Spec, status: string) => JSON.stringify(spec.paths['/login']?.post?.responses[status] ?? null)
    const { ask, held, auth } = await world({
      hooks: {
        beforeLogin: ({ user }) => {
          if (user.email === ada.email) throw new AuthError('last_credential', { detail: 'By invitation only.' })
          throw new Error('broken')
        },
      },
    })
    expect([codes(held.spec, '503'), codes(held.spec, 'default')]).toEqual([
      expect.stringContaining('hook_failed'),
      expect.stringContaining('Problem'),
    ])
    const grace = { ...ada, email: 'grace@example.test' }
    for (const account of [ada, grace]) await auth.users.create({ ...account, emailVerified: true })
    expect((await ask().post('/auth/login', ada)).status).toBe(409)
    expect((await ask().post('/auth/login', grace)).status).toBe(503)

    const without = await documentOf()
    expect([codes(without, '503'), codes(without, 'default')]).toEqual([
      expect.not.stringContaining('hook_failed'),
      'null',
    ])
  })

  test('answer registrations with a session where no confirmation is asked for', async () => {
    const { ask } = await world({ registration: { emailVerification: 'optional' } })
    expect((await ask().post('/auth/register', ada)).status).toBe(201)
    expect((await ask({ as: 'token' }).post('/auth/register', { ...ada, email: 'app@example.test' })).status).toBe(201)
    expect((await ask().post('/auth/register', ada)).status).toBe(409)
  })
})

const password = 'a difference engine of brass'

async function registrations({ ask, mailbox }: World): Promise<void> {
  const browser = ask()
  await browser.signUp(ada)
  await ask().post('/auth/register', { email: 'ada@example.test', password: 'short' })

  const app = ask({ as: 'token' })
  const email = 'app@example.test'
  const { transaction } = (await app.post<{ transaction: string }>('/auth/register', { email, password })).body
  await mailbox.waitFor(email)
  await app.post('/auth/verify-email/resend', { email, transaction })
  const code = mailbox.code(await mailbox.waitFor(email))
  await app.post('/auth/verify-email', { email, code: '000000', transaction })
  expect((await app.post('/auth/verify-email', { email, code, transaction })).body).toHaveProperty('refreshToken')
  expect(await app.refresh()).toMatchObject({ status: 200 })
  await app.signOut()
}

async function sessions({ ask, runtime }: World): Promise<void> {
  const [browser, other] = [ask(), ask()]
  await browser.signIn(ada)
  await other.signIn(ada)
  await runtime.clock.advance('1m')
  await browser.refresh()
  expect((await browser.post('/auth/refreshtoken')).status).toBe(200)
  await ask().post('/auth/refreshtoken')
  await browser.get('/auth/me')
  await browser.patch('/auth/me', { name: 'Ada' })
  await browser.patch('/auth/me', { name: 7 })
  await browser.get('/auth/sessions')
  const { id } = (await other.get<{ session: { id: string } }>('/auth/me')).body.session
  expect((await browser.delete(`/auth/sessions/${id}`)).status).toBe(204)
  expect((await other.get('/auth/me')).body).toMatchObject({ code: 'token_revoked' })
  await browser.delete('/auth/sessions/unknown')
  await browser.delete('/auth/sessions')
  expect((await browser.post('/auth/impersonation/stop')).status).toBe(204)
  await browser.signOut()
}

async function changes({ ask, mailbox, runtime }: World): Promise<void> {
  const browser = ask()
  const email = 'grace@example.test'
  await browser.signUp({ email, password: ada.password })
  await browser.post('/auth/password/change', { currentPassword: 'a wrong one', newPassword: password })
  await browser.post('/auth/password/change', { currentPassword: ada.password, newPassword: 'password1234' })
  await browser.post('/auth/password/change', { currentPassword: ada.password, newPassword: password })

  const next = 'grace@elsewhere.test'
  await browser.post('/auth/email/change', { newEmail: next, password })
  const token = mailbox.token(await mailbox.waitFor(next, 'Confirm'))
  expect((await browser.post('/auth/email/confirm', { token })).status).toBe(200)
  await browser.post('/auth/email/confirm', { token })
  const undo = mailbox.token(await mailbox.waitFor(email, 'address'))
  expect((await browser.post('/auth/email/undo', { token: undo })).status).toBe(200)
  await browser.post('/auth/email/undo', { token: undo })

  await browser.post('/auth/password/forgot', { email })
  const reset = mailbox.token(await mailbox.waitFor(email, 'Choose'))
  await browser.post('/auth/password/reset', { token: reset, password: 'short' })
  await browser.post('/auth/password/reset', { token: reset, password })
  await browser.post('/auth/password/reset', { token: reset, password })

  await browser.signIn({ email, password })
  await runtime.clock.advance('6m')
  await browser.delete('/auth/me', {})
  await browser.delete('/auth/me', { password: 'a wrong one' })
  expect((await browser.delete('/auth/me', { password })).status).toBe(204)
}

async function codes({ ask, mailbox }: World): Promise<void> {
  const browser = ask()
  await browser.post('/auth/otp', { email: ada.email })
  const code = mailbox.code(await mailbox.waitFor(ada.email, 'code'))
  await browser.post('/auth/otp/verify', { code: '000000' })
  expect((await browser.post('/auth/otp/verify', { code })).status).toBe(200)
  await ask({ as: 'token' }).post('/auth/otp', { email: ada.email })
}

async function secondFactors({ ask, runtime }: World): Promise<void> {
  const { clock } = runtime
  const browser = ask()
  const account = { email: 'alan@example.test', password }
  await browser.signUp(account)
  await browser.post('/auth/two-factor/backup-codes', { password, code: '123456' })
  const factor = await enrol(browser, password, clock)
  await browser.post('/auth/two-factor/totp/confirm', { code: '123456' })

  for (const client of [ask(), ask({ as: 'token' })]) {
    const challenge = await firstStep(client, account)
    await client.post('/auth/login/two-factor', { challenge, code: factor.wrongCode() })
    const entered = await client.post('/auth/login/two-factor', { challenge, code: await factor.nextCode() })
    expect(entered.status).toBe(200)
  }
  await browser.post('/auth/two-factor/backup-codes', { password, code: factor.wrongCode() })
  expect(
    (await browser.post('/auth/two-factor/backup-codes', { password, code: await factor.nextCode() })).status,
  ).toBe(200)
  expect((await browser.delete('/auth/two-factor', { password, code: await factor.nextCode() })).status).toBe(204)
  await browser.delete('/auth/two-factor', { password, code: '123456' })

  const app = ask({ as: 'token' })
  await app.signIn(account)
  const { secret } = (await app.post<{ secret: string }>('/auth/two-factor/totp', { password })).body
  await app.post('/auth/two-factor/totp/confirm', { code: totpCode(secret, clock.now()) })
  await clock.advance('30s')
  const off = await app.delete('/auth/two-factor', { password, code: totpCode(secret, clock.now()) })
  expect(off).toMatchObject({ status: 200, body: { accessToken: expect.any(String) } })
}

async function passkeys({ ask, runtime }: World): Promise<void> {
  const browser = ask()
  const account = { email: 'joan@example.test', password }
  await browser.signUp(account)
  const device = createAuthenticator({ origin })
  const { passkey } = (await addPasskey(browser, device, { name: 'Phone' })).body
  await addPasskey(browser, createAuthenticator({ origin }), { forged: { userVerified: false } })
  expect((await browser.get('/auth/passkeys')).status).toBe(200)
  expect((await browser.patch(`/auth/passkeys/${passkey.id}`, { name: 'Laptop' })).status).toBe(200)
  await browser.patch('/auth/passkeys/unknown', { name: 'Laptop' })

  expect((await passkeyLogin(ask(), device)).status).toBe(200)
  await passkeyLogin(ask(), device, { userVerified: false })
  const app = ask({ as: 'token' })
  await app.post('/auth/passkeys/login/options')
  await app.signIn(account)
  expect((await app.delete(`/auth/passkeys/${passkey.id}`, { password: 'wrong' })).status).toBe(401)

  const response = device.sign(await requestOptions(browser, '/auth/reauthenticate/options'))
  expect((await browser.post('/auth/reauthenticate', { response })).status).toBe(200)
  await browser.post('/auth/reauthenticate', { password: 'wrong' })
  await browser.post('/auth/login/two-factor/options', { challenge: 'unknown' })
  await enrol(browser, password, runtime.clock)
  const phone = ask()
  const challenge = await firstStep(phone, account)
  const options = await requestOptions(phone, '/auth/login/two-factor/options', { challenge })
  const second = { challenge, response: device.sign(options) }
  expect((await phone.post('/auth/login/two-factor', second)).status).toBe(200)
  expect((await browser.delete(`/auth/passkeys/${passkey.id}`, { password })).status).toBe(204)
  await browser.delete(`/auth/passkeys/${passkey.id}`, { password })
}

async function providers(here: World): Promise<void> {
  const { ask, peer } = here
  const browser = ask()
  await browser.signIn(ada)
  const { url } = (await browser.post<{ url: string }>('/auth/oauth/google/link', { password: ada.password })).body
  peer.signInAs(adaAtGoogle)
  await comeBack(browser, peer.answer(url))
  expect((await browser.delete('/auth/identities/google', { password: ada.password })).status).toBe(204)
  await browser.delete('/auth/identities/google', { password: ada.password })

  const stranger = ask()
  await enterAs(here, stranger, { id: '7', email: 'new@company.test', name: 'New' }, 'company')
  await stranger.post('/auth/register/identity', { email: 'no address' })
  expect((await stranger.post('/auth/register/identity', { email: 'new@company.test' })).status).toBe(202)
  await comeBack(stranger, peer.refuse(await goTo(stranger)))
  await stranger.get('/auth/oauth/unknown')
  await stranger.get('/auth/oauthcallback/unknown')
  await stranger.submit('/auth/oauthcallback/google', { state: 'x', code: 'y' })
}

const json = { 'content-type': 'application/json' }
const origin = 'http://localhost:3000'

/** The status of what a client is answered that is no browser and has nothing but these. */
async function statusOf(
  held: HeldAuth,
  { method, path }: Listed,
  headers: Record<string, string>,
  body: string | null,
) {
  const url = `${origin}/auth${path.replaceAll(/\{\w+\}/g, 'google')}`
  return (await held.fetch(new Request(url, { method, headers, body }), { ip: '127.0.0.1' })).status
}

/** What is refused before anybody looks at what is asked for. */
async function unread(held: HeldAuth): Promise<void> {
  for (const route of listed(held.spec)) {
    const place = `${route.method} ${route.path}`
    expect(await statusOf(held, route, { 'x-auth-mode': 'cookie' }, null), place).toBe(400)
    expect(await statusOf(held, route, { 'x-auth-mode': 'token', origin }, null), place).toBe(403)
    if (route.method === 'GET') continue
    const fromAbroad = await statusOf(held, route, { ...json, origin: 'https://evil.example' }, '{}')
    expect(fromAbroad, place).toBe(route.path.startsWith('/oauthcallback/') ? 303 : 403)
    expect(await statusOf(held, route, json, '[]'), place).toBe(400)
    expect(await statusOf(held, route, json, `{"a":"${'a'.repeat(70_000)}"}`), place).toBe(413)
    expect(await statusOf(held, route, { 'content-type': 'text/plain' }, 'a'), place).toBe(415)
  }
}

/** What is refused to whoever is not signed in: of just those routes that ask for it. */
async function unknown(held: HeldAuth): Promise<void> {
  for (const route of listed(held.spec)) {
    const asks = route.operation.security.every((needed) => Object.keys(needed).length > 0)
    const status = await statusOf(held, route, json, leastBody(held.spec, route))
    if (asks) expect(status, `${route.method} ${route.path}`).toBe(401)
    else if (!route.path.startsWith('/refresh')) expect(status, `${route.method} ${route.path}`).not.toBe(401)
  }
}

/** The same for bodies of several forms, or of several levels. */
const leastNested: Readonly<Record<string, object>> = {
  '/reauthenticate': { password },
  '/passkeys': {
    response: {
      id: 'AAAA',
      rawId: 'AAAA',
      type: 'public-key',
      response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
    },
  },
}

/** What the document demands of a body, and no more. */
function leastBody(spec: Spec, { path, operation }: Listed): string | null {
  if (!operation.requestBody) return null
  const nested = leastNested[path]
  if (nested) return JSON.stringify(nested)
  const values: Readonly<Record<string, string>> = { code: '123456', newPassword: password, newEmail: ada.email }
  const named = JSON.stringify(operation.requestBody.content['application/json']).match(/#[^"]+/)?.[0] ?? ''
  const required: unknown = Reflect.get(Object(lookUp(spec, named)), 'required')
  return JSON.stringify(Object.fromEntries([required ?? []].flat().map((name) => [name, values[String(name)] ?? 'x'])))
}
