import { expect, test } from 'vitest'
import type { Auth } from '../../src/index.js'
import { ada, testAuth } from '../support/auth.js'

type Api = Pick<Auth, 'users' | 'sessions' | 'apiTokens' | 'access'>

const application = { kind: 'application' }
const newPassword = 'analytical engine 1843'

/** Every server-side call that changes something. */
const calls: readonly [name: string, run: (auth: Api, userId: string, sessionId: string) => Promise<unknown>][] = [
  ['users.create', ({ users }) => users.create({ email: 'grace@example.test' })],
  ['users.import', ({ users }) => users.import([{ email: 'grace@example.test' }])],
  ['users.update', ({ users }, id) => users.update(id, { name: 'Ada', roles: ['EDITOR'] })],
  ['users.setPassword', ({ users }, id) => users.setPassword(id, newPassword)],
  ['users.disable', ({ users }, id) => users.disable(id)],
  ['users.enable', ({ users }, id) => users.disable(id).then(() => users.enable(id))],
  ['users.delete', ({ users }, id) => users.delete(id)],
  ['sessions.revoke', ({ sessions }, _id, sessionId) => sessions.revoke(sessionId)],
  ['sessions.revokeAll', ({ sessions }, id) => sessions.revokeAll(id)],
  ['apiTokens.create', ({ apiTokens }) => apiTokens.create({ name: 'nightly' })],
  ['apiTokens.rotate', async ({ apiTokens }) => apiTokens.rotate((await apiTokens.create({ name: 'nightly' })).id)],
  ['apiTokens.remove', async ({ apiTokens }) => apiTokens.remove((await apiTokens.create({ name: 'nightly' })).id)],
  ['access.allow', ({ access }) => access.allow('192.0.2.0/24')],
  [
    'access.disallow',
    async ({ access }) => {
      await access.allow('192.0.2.0/24')
      await access.disallow('192.0.2.0/24')
    },
  ],
  ['access.setJwks', ({ access }) => access.setJwks('https://keys.example.com/other.json')],
]

test('all of them are tried here', async () => {
  const { auth } = await testAuth()
  const reading = ['users.get', 'users.findByEmail', 'users.list', 'sessions.list', 'apiTokens.list', 'access.get']
  const { users, sessions, apiTokens, access } = auth
  const names = Object.entries({ users, sessions, apiTokens, access }).flatMap(([room, api]) =>
    Object.keys(api).map((name) => `${room}.${name}`),
  )
  expect([...calls.map(([name]) => name), ...reading].toSorted()).toEqual(names.toSorted())
})

test.each(calls)('the actor of auth.%s is the application', async (_name, run) => {
  const { auth, client } = await testAuth({ jwks: { url: 'https://keys.example.com/set.json', audience: 'api' } })
  const { user, session } = (await client().signUp(ada)).body
  const before = (await auth.audit.list()).items.length
  await run(auth, user.id, session.id)
  const { items } = await auth.audit.list()
  const written = items.slice(0, items.length - before)
  expect(written.length).toBeGreaterThan(0)
  expect(written.map(({ actor, ip, userAgent }) => ({ actor, ip, userAgent }))).toEqual(
    written.map(() => ({ actor: application, ip: null, userAgent: null })),
  )
  expect(JSON.stringify(written)).not.toContain('"by"')
})

test('the end of one session is recorded at its account', async () => {
  const { auth, client } = await testAuth()
  const { user, session } = (await client().signUp(ada)).body
  expect(await auth.sessions.revoke(session.id)).toBe(true)
  expect(await auth.sessions.revoke(session.id)).toBe(false)
  expect((await auth.audit.list({ event: 'session_revoked' })).items).toMatchObject([
    { userId: user.id, sessionId: session.id, actor: application },
  ])
})

test('a call inside a hook is the application’s too, and the sign-in around it the user’s', async () => {
  const world = await testAuth({
    hooks: {
      async afterLogin({ user }) {
        await world.auth.users.update(user.id, { roles: ['EDITOR'] })
      },
    },
  })
  const { user, session } = (await world.client().signUp(ada)).body
  const { items } = await world.auth.audit.list({ userId: user.id })
  expect(items.map(({ event, actor }) => [event, actor])).toEqual([
    ['account_updated', application],
    ['login', { kind: 'user', userId: user.id, sessionId: session.id, impersonating: null }],
    ['account_created', null],
  ])
})
