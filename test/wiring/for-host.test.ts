import { expect, onTestFinished, test } from 'vitest'
import { createFetch } from '../../src/adapters/fetch.js'
import { AuthError } from '../../src/errors.js'
import type { LatchkeySettings } from '../../src/index.js'
import type { Right } from '../../src/model/right.js'
import { isLastByRole } from '../../src/store/accounts/last-admin.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../src/testing.js'
import { createHostAuth, type HostParts } from '../../src/wiring/for-host.js'
import { ada } from '../support/auth.js'

const space = { id: 'S'.repeat(22), name: 'dev' }

/** A host without tables of its own, whose rights and one space are as the test says. */
async function hostAuth(rights: Map<string, Right>, settings: Partial<LatchkeySettings> = {}) {
  const runtime = createTestRuntime()
  const mailbox = createTestMailbox()
  let running: Parameters<HostParts<string>['start']>[0] | null = null
  const auth = createHostAuth<string>(
    testSettings({ mailbox, logger: { warn: () => {}, error: () => {} }, ...settings }),
    {
      extension: { migrations: {}, migrationsTable: 'none', isLastAdmin: isLastByRole, nouns: () => 'none' },
      routes: [],
      async findSpace(name) {
        if (name !== space.name || running === null) throw new AuthError('space_not_found')
        const { ports, store } = running
        return { ...ports, ...store.at(space.id), space }
      },
      createRights: async () => ({ rights: { of: ({ userId }) => rights.get(userId) ?? null }, adminTokens: null }),
      async start(opened) {
        running = opened
      },
      topics: () => [],
      close: async () => {},
    },
    runtime,
  )
  onTestFinished(() => auth.close())
  await auth.ready()
  const fetch = createFetch(auth.handle, () => ({ status: 404, headers: {}, body: '' }))
  const next = () => Response.json({})
  return {
    runtime,
    events: async () =>
      (await running?.store.audit.list({ limit: 200 }))?.map(({ event, detail }) => ({ event, detail })),
    client: () => createTestClient({ fetch }, { mailbox, clock: runtime.clock, next }),
  }
}

async function signedInAs(right: Right | null) {
  const rights = new Map<string, Right>()
  const world = await hostAuth(rights)
  const client = world.client()
  const { body } = await client.signUp(ada)
  if (right !== null) rights.set(body.user.id, right)
  return { ...world, client, get: (path: string) => client.get(`/auth/admin/api${path}`) }
}

test('the control API of the host says so, and lets a user in by a right alone', async () => {
  const { get } = await signedInAs('ADMIN')
  expect((await get('')).body).toMatchObject({ home: 'host', user: { email: ada.email, right: 'ADMIN' } })
  expect((await get('/users')).status).toBe(200)
})

test('a member reads what members may, and nothing else', async () => {
  const { get } = await signedInAs('MEMBER')
  expect((await get('')).body).toMatchObject({ user: { right: 'MEMBER' } })
  expect((await get('/spaces/dev/access')).status).toBe(200)
  expect((await get('/spaces/dev/tokens')).body).toMatchObject({ code: 'forbidden' })
  expect((await get('/users')).body).toMatchObject({ code: 'forbidden' })
})

test('a user without a right learns nothing of spaces', async () => {
  const { get } = await signedInAs(null)
  for (const path of ['', '/spaces/dev/tokens', '/spaces/unknown/tokens']) {
    expect((await get(path)).body).toMatchObject({ code: 'forbidden' })
  }
})

test('API tokens and access settings are those of a space, and their events name it', async () => {
  const { client, get, events } = await signedInAs('ADMIN')
  expect((await get('/tokens')).status).toBe(404)
  expect((await get('/spaces/unknown/tokens')).body).toMatchObject({ code: 'space_not_found' })
  const made = await client.post('/auth/admin/api/spaces/dev/tokens', { name: 'ci' })
  expect(made.status).toBe(201)
  expect((await get('/spaces/dev/tokens')).body).toMatchObject({ items: [{ name: 'ci' }] })
  expect(await events()).toContainEqual({
    event: 'api_token_created',
    detail: expect.objectContaining({ space: 'dev', spaceId: space.id, name: 'ci' }),
  })
})

test('administrators of the host act as no other user', async () => {
  const { client } = await signedInAs('ADMIN')
  expect((await client.post('/auth/admin/api/users/x/impersonate', { reason: 'support' })).status).toBe(404)
})

test('admin.emails is a fault of the settings of a host', async () => {
  await expect(hostAuth(new Map(), { admin: { emails: [ada.email] } })).rejects.toThrow(/auth.admin.emails/)
})
