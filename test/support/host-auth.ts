import { onTestFinished } from 'vitest'
import { createFetch } from '../../src/adapters/fetch.js'
import { AuthError } from '../../src/errors.js'
import type { HttpRequest } from '../../src/http/message.js'
import type { Route } from '../../src/http/route.js'
import type { LatchkeySettings } from '../../src/index.js'
import type { Right } from '../../src/model/right.js'
import type { SpaceName } from '../../src/model/visitor.js'
import type { AdminTokenCaller, AdminTokens } from '../../src/ports.js'
import { isLastByRole } from '../../src/store/accounts/last-admin.js'
import {
  createTestClient,
  createTestMailbox,
  createTestRuntime,
  type TestClientOptions,
  type TestRuntime,
  testSettings,
} from '../../src/testing.js'
import { createHostAuth, guardSpace, type HostRunning } from '../../src/wiring/for-host.js'
import { keptLines } from './redis-server.js'

export const dev: SpaceName = { id: 'D'.repeat(22), name: 'dev' }
export const prod: SpaceName = { id: 'P'.repeat(22), name: 'prod' }

interface HostOptions {
  settings?: Partial<LatchkeySettings>
  runtime?: TestRuntime
  routes?: readonly Route[]
  adminTokens?: AdminTokens | null
  /** Of the spaces. */
  origin?: string
}

/** A host without tables of its own. Its rights are the map's, its spaces are `dev` and `prod`, each with its guard. */
export async function hostAuth({ settings = {}, routes = [], adminTokens = null, ...options }: HostOptions = {}) {
  const { origin = 'https://api.example.test' } = options
  const runtime = options.runtime ?? createTestRuntime()
  const mailbox = createTestMailbox()
  const { lines, logger } = keptLines()
  const rights = new Map<string, Right>()
  const guarded = new Map<string, ReturnType<typeof guardSpace>>()
  let running: HostRunning<string> | null = null
  const auth = createHostAuth<string>(
    testSettings({ mailbox, logger, ...settings }),
    {
      extension: { migrations: {}, migrationsTable: 'none', isLastAdmin: isLastByRole, nouns: () => 'none' },
      routes,
      async findSpace(name) {
        const found = guarded.get(name)
        if (found === undefined) throw new AuthError('space_not_found')
        return found.ports
      },
      topics: () => [],
      createRights: async () => ({ rights: { of: ({ userId }) => rights.get(userId) ?? null }, adminTokens }),
      async start(opened) {
        running = opened
        for (const space of [dev, prod]) {
          guarded.set(space.name, guardSpace(opened, { space, origin, trustedProxies: { kind: 'none' } }))
        }
      },
      async close() {
        await Promise.all([...guarded.values()].map((space) => space.close()))
      },
    },
    runtime,
  )
  onTestFinished(() => auth.close())
  await auth.ready()
  if (running === null) throw new TypeError('not running')
  const { store, ports }: HostRunning<string> = running
  const fetch = createFetch(auth.handle, () => ({ status: 404, headers: {}, body: '' }))
  const next = () => Response.json({})
  const spaceOf = (name: string) => {
    const found = guarded.get(name)
    if (found === undefined) throw new TypeError(name)
    return found
  }
  return {
    auth,
    runtime,
    lines,
    rights,
    store,
    ports,
    space: spaceOf,
    events: async () =>
      (await store.audit.list({ limit: 200 })).map(({ event, detail, actor }) => ({ event, detail, actor })),
    client: (client: TestClientOptions = {}) =>
      createTestClient({ fetch }, { mailbox, clock: runtime.clock, next, ...client }),
  }
}

/** Admin tokens by their text, and the texts that were looked up. */
export function stubTokens(tokens: Readonly<Record<string, Partial<AdminTokenCaller>>>) {
  const asked: string[] = []
  const adminTokens: AdminTokens = {
    async identify(text) {
      asked.push(text)
      const found = tokens[text]
      if (found === undefined) throw new AuthError('unauthenticated')
      return { tokenId: `id-${text}`, name: text, spaces: null, commands: null, ...found }
    },
  }
  return { asked, adminTokens }
}

/** A request as the front gives it to the guard of a space. */
export function spaceRequest(
  headers: Readonly<Record<string, string>> = {},
  more: Partial<HttpRequest> = {},
): HttpRequest {
  return {
    method: 'GET',
    path: '/orders',
    query: '',
    mount: '/dev',
    headers,
    rawHeaders: Object.entries(headers).flat(),
    ip: '192.0.2.1',
    body: { kind: 'stream', read: async () => null },
    native: null,
    ...more,
  }
}
