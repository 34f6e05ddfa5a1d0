import { onTestFinished } from 'vitest'
import { createFetch } from '../../src/adapters/fetch.js'
import { AuthError } from '../../src/errors.js'
import type { SpaceNames } from '../../src/host/flows/people/ports.js'
import { openPeople, type People } from '../../src/host/people/people.js'
import { peopleRoutes } from '../../src/host/routes/people.js'
import type { PeopleNouns } from '../../src/host/store/people.js'
import { peopleExtension } from '../../src/host/store/sql/host-extension.js'
import type { LatchkeySettings } from '../../src/index.js'
import type { Right } from '../../src/model/right.js'
import {
  createTestClient,
  createTestMailbox,
  createTestRuntime,
  type TestClient,
  type TestClientOptions,
  type TestMailbox,
  type TestRuntime,
  testSettings,
} from '../../src/testing.js'
import { createHostAuth, type HostRunning } from '../../src/wiring/for-host.js'

/** Spaces of every world, by name. */
export const testSpaces: ReadonlyMap<string, string> = new Map([
  ['dev', 'D'.repeat(22)],
  ['prod', 'P'.repeat(22)],
])

const spaces: SpaceNames = {
  idsOf: async (names) => new Map([...testSpaces].filter(([name]) => names.includes(name))),
  namesOf: async (ids) =>
    new Map([...testSpaces].flatMap(([name, id]): [string, string][] => (ids.includes(id) ? [[id, name]] : []))),
}

export interface HostWorld {
  runtime: TestRuntime
  mailbox: TestMailbox
  people: People
  running: HostRunning<PeopleNouns>
  client(options?: TestClientOptions): TestClient
  /** A browser in which a new, verified user is signed in. With a right, it was given in the store. */
  signedIn(email: string, right?: Right): Promise<{ client: TestClient; id: string; email: string }>
  /** Gives a right as the first start of a host does. */
  grant(userId: string, right: Right): Promise<void>
  /** What the admin token may do now, or the code of the refusal. */
  identify(token: string, ip?: string | null): Promise<unknown>
}

export const api = '/auth/admin/api'
export const password = 'correct horse battery'

export interface HostWorldOptions {
  settings?: Partial<LatchkeySettings>
  runtime?: TestRuntime
  mailbox?: TestMailbox
}

/** A host with accounts, rights, teams and admin tokens on SQLite, in memory unless the settings name a file. */
export async function hostWorld(options: HostWorldOptions = {}): Promise<HostWorld> {
  const runtime = options.runtime ?? createTestRuntime()
  const mailbox = options.mailbox ?? createTestMailbox()
  let people: People | null = null
  let running: HostRunning<PeopleNouns> | null = null
  const opened = () => {
    if (people === null || running === null) throw new TypeError('The host is not open.')
    return { people, running }
  }
  const auth = createHostAuth<PeopleNouns>(
    testSettings({ mailbox, logger: { warn: () => {}, error: () => {} }, ...options.settings }),
    {
      extension: { ...peopleExtension, migrationsTable: 'latchkey_host_migrations' },
      routes: peopleRoutes(() => ({ ...opened().running.nouns, spaces, inForce: opened().people.inForce })),
      async findSpace(name) {
        const id = testSpaces.get(name)
        if (id === undefined) throw new AuthError('space_not_found')
        const { ports, store } = opened().running
        return { ...ports, ...store.at(id), space: { id, name } }
      },
      async createRights(nouns, { revocations, world, keyring, limiter, clock, policy }) {
        const { subscribe } = revocations
        people = await openPeople({ nouns, subscribe, timer: world.timer, keyring, limiter, clock, policy })
        return people
      },
      async start(parts) {
        running = parts
      },
      topics: () => [],
      close: async () => people?.close(),
    },
    runtime,
  )
  onTestFinished(() => auth.close())
  await auth.ready()
  return worldOf({ runtime, mailbox, handle: auth.handle, ...opened() })
}

function worldOf({
  handle,
  ...world
}: Pick<HostWorld, 'runtime' | 'mailbox' | 'people' | 'running'> & {
  handle: Parameters<typeof createFetch>[0]
}): HostWorld {
  const { runtime, mailbox, people, running } = world
  const fetch = createFetch(handle, () => ({ status: 404, headers: {}, body: '' }))
  const next = () => Response.json({})
  const client: HostWorld['client'] = (options) =>
    createTestClient({ fetch }, { mailbox, clock: runtime.clock, next, ...options })

  async function grant(userId: string, right: Right): Promise<void> {
    const { clock, random } = running.ports
    const audit = { ...auditOf(userId), id: random.id(), atMs: clock.nowMs() }
    await running.nouns.projectRights.grant(userId, right, { until: clock.now() + 180, audit })
    await people.inForce()
  }

  return {
    ...world,
    client,
    grant,
    async signedIn(email, right) {
      const browser = client()
      const { body } = await browser.signUp({ email, password })
      if (!body.user.emailVerified) {
        const token = mailbox.token(await mailbox.waitFor(email))
        await browser.post('/auth/verify-email', { token })
        await browser.refresh()
      }
      if (right !== undefined) await grant(body.user.id, right)
      return { client: browser, id: body.user.id, email }
    },
    async identify(token, ip = '192.0.2.9') {
      try {
        return await people.adminTokens.identify(token, { ip })
      } catch (error) {
        if (error instanceof AuthError) return error.code
        throw error
      }
    },
  }
}

function auditOf(userId: string) {
  const nobody = { sessionId: null, ip: null, userAgent: null, detail: {} }
  return { event: 'right_granted', outcome: 'success', actor: { kind: 'system' }, userId, ...nobody } as const
}
