import { expect, onTestFinished, test } from 'vitest'
import { createFetch } from '../../../src/adapters/fetch.js'
import { AuthError } from '../../../src/errors.js'
import { deploy } from '../../../src/host/flows/spaces/deploy.js'
import { createSpace } from '../../../src/host/flows/spaces/spaces.js'
import { backupRoutes } from '../../../src/host/routes/backups.js'
import { collectionRoutes } from '../../../src/host/routes/collections/index.js'
import { environmentRoutes } from '../../../src/host/routes/environment.js'
import { logRoute } from '../../../src/host/routes/logs.js'
import { releaseRoutes } from '../../../src/host/routes/releases.js'
import { restoreRoutes } from '../../../src/host/routes/restores.js'
import { spaceRoutes } from '../../../src/host/routes/spaces.js'
import type { Right } from '../../../src/model/right.js'
import { isLastByRole } from '../../../src/store/accounts/last-admin.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../../src/testing.js'
import { createHostAuth, type HostParts } from '../../../src/wiring/for-host.js'
import { ada } from '../../support/auth.js'
import { admin, archiveWith, hostFolder, openProcess } from '../../support/space-world.js'

/** The control API of a host over a process of the space world, with a user of this right who has just signed in. */
async function signedInAs(right: Right | null) {
  const { ports, store } = await openProcess(await hostFolder())
  const runtime = createTestRuntime()
  const mailbox = createTestMailbox()
  const of = () => ports
  let running: Parameters<HostParts<string>['start']>[0] | null = null
  const auth = createHostAuth<string>(
    testSettings({ mailbox, logger: { warn: () => {}, error: () => {} } }),
    {
      extension: { migrations: {}, migrationsTable: 'none', isLastAdmin: isLastByRole, nouns: () => 'none' },
      routes: [...spaceRoutes(of), ...releaseRoutes(of), ...environmentRoutes(of), logRoute(of)],
      async findSpace(name) {
        const found = await ports.spaces.findByName(name)
        if (!found || running === null) throw new AuthError('space_not_found')
        return { ...running.ports, ...running.store.at(found.id), space: { id: found.id, name } }
      },
      createRights: async () => ({ rights: { of: () => right }, adminTokens: null }),
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
  const client = createTestClient({ fetch }, { mailbox, clock: runtime.clock, next: () => Response.json({}) })
  await client.signUp(ada)
  const path = (rest: string) => `/auth/admin/api/spaces${rest}`
  return {
    ports,
    store,
    runtime,
    get: (rest: string) => client.get(path(rest)),
    post: (rest: string, body: unknown) => client.post(path(rest), body),
    remove: (rest: string, body?: unknown) => client.delete(path(rest), body),
    deployed: async () =>
      deploy(ports, { space: 'dev', archive: await archiveWith('first'), dirty: null, visitor: admin }, () => {}),
  }
}

test('an administrator creates a space, sets its environment, undeploys and removes it', async () => {
  const { get, post, remove, deployed } = await signedInAs('ADMIN')
  expect(await post('', { name: 'dev' })).toMatchObject({ status: 201, body: { name: 'dev', state: 'stopped' } })
  expect(await post('', { name: 'dev' })).toMatchObject({ status: 409, body: { code: 'space_exists' } })
  expect((await post('/dev/env', { name: 'A', value: 'plain' })).status).toBe(204)
  expect((await post('/dev/env', { name: 'B', value: 'hidden', encrypted: true })).status).toBe(204)
  const listed = await get('/dev/env')
  expect(listed.body).toMatchObject({ items: [{ name: 'A', value: 'plain' }, { name: 'B' }] })
  expect(JSON.stringify(listed.body)).not.toContain('hidden')
  expect((await remove('/dev/env/B')).status).toBe(204)

  await deployed()
  expect((await get('')).body).toMatchObject({ items: [{ name: 'dev', release: 1 }], nextCursor: null })
  expect((await get('/dev')).body).toMatchObject({ release: 1, state: 'ready' })
  expect((await get('/dev/releases')).body).toMatchObject({ items: [{ number: 1, state: 'current' }] })
  expect((await remove('/dev/releases/current', { confirm: 'prod' })).body).toMatchObject({ code: 'invalid_request' })
  expect((await remove('/dev/releases/current', { confirm: 'dev' })).status).toBe(204)
  expect((await remove('/dev', {})).body).toMatchObject({ code: 'invalid_request' })
  expect((await remove('/dev', { confirm: 'dev' })).status).toBe(204)
  expect(await get('/dev')).toMatchObject({ status: 404, body: { code: 'space_not_found' } })
})

test('a member reads spaces and releases, no environment, and changes nothing', async () => {
  const { ports, store, get, post, remove } = await signedInAs('MEMBER')
  await createSpace(ports, { name: 'dev', visitor: admin })
  for (const path of ['', '/dev', '/dev/releases']) expect((await get(path)).status).toBe(200)
  const refused = await Promise.all([
    get('/dev/env'),
    post('', { name: 'prod' }),
    post('/dev/env', { name: 'A', value: 'b' }),
    remove('/dev/env/A'),
    remove('/dev/releases/current', { confirm: 'dev' }),
    remove('/dev', { confirm: 'dev' }),
  ])
  expect(refused.map(({ status }) => status)).toEqual(Array(6).fill(403))
  expect(await store.audit.list({ limit: 9 })).toHaveLength(1)
})

test('a user without a right does not learn which spaces there are', async () => {
  const { ports, get } = await signedInAs(null)
  await createSpace(ports, { name: 'dev', visitor: admin })
  for (const path of ['', '/dev', '/unknown', '/dev/releases', '/unknown/env']) {
    expect((await get(path)).body).toMatchObject({ code: 'forbidden' })
  }
})

test('a space that is being changed answers 409, with what is under way', async () => {
  const { ports, post, remove } = await signedInAs('ADMIN')
  const { id } = await createSpace(ports, { name: 'dev', visitor: admin })
  await ports.claims.take(id, 'deploy', 60_000)
  const busy = { status: 409, body: { code: 'space_busy', detail: expect.stringContaining('A deploy') } }
  expect(await post('/dev/env', { name: 'A', value: 'b' })).toMatchObject(busy)
  expect(await remove('/dev/env/A')).toMatchObject(busy)
  expect(await remove('/dev', { confirm: 'dev' })).toMatchObject(busy)
  expect(await remove('/dev/releases/current', { confirm: 'dev' })).toMatchObject(busy)
})

test('what takes something away or changes code needs a recent sign-in or its name', () => {
  const none = () => {
    throw new Error('The host is not open.')
  }
  const routes = [
    ...spaceRoutes(none),
    ...releaseRoutes(none),
    ...environmentRoutes(none),
    logRoute(none),
    ...collectionRoutes(none),
    ...backupRoutes(none),
    ...restoreRoutes(none),
  ]
  const rules = routes.map(({ method, path, control }) => {
    const { recent = false, confirm = false, who = '', home = '', adminToken = '' } = control ?? {}
    const rule = [home, method, path.slice('/admin/api'.length), who, recent && 'R', confirm && 'C', adminToken]
    return rule.filter((part) => typeof part === 'string' && part !== '').join(' ')
  })
  expect(rules).toEqual([
    'host GET /spaces member',
    'host POST /spaces admin R',
    'host GET /spaces/:space member',
    'host POST /spaces/:space/take-over admin R',
    'host DELETE /spaces/:space admin R C',
    'space GET /releases member deploy',
    'space POST /releases admin deploy',
    'space POST /releases/:n/activate admin deploy',
    'space DELETE /releases/current admin C undeploy',
    'space GET /env admin',
    'space POST /env admin R',
    'space DELETE /env/:name admin R',
    'space GET /logs admin',
    'space GET /collections admin query',
    'space POST /collections/:c/query admin query',
    'space POST /collections/:c/indexes admin createindex',
    'space DELETE /collections/:c/indexes admin C removeindex',
    'space POST /collections/:c/import admin import',
    'space GET /collections/:collection/export admin export',
    'space GET /backup admin R backup',
    'space POST /restore admin R C restore',
    'space POST /restore/undo admin R restore',
  ])
  expect(routes.filter(({ control }) => control?.adminToken !== undefined)).toHaveLength(13)
})
