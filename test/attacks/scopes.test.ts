import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createAccessFeed } from '../../src/guard/access-settings.js'
import { createApiTokenCheck, type KnownApiToken } from '../../src/guard/api-token.js'
import { followTokens } from '../../src/guard/token-changes.js'
import type { HttpRequest } from '../../src/http/message.js'
import { createKeyring } from '../../src/lib/keyring.js'
import { createSharedClock } from '../../src/lib/shared-clock.js'
import type { Change } from '../../src/model/change.js'
import { createTestClock } from '../../src/testing/clock.js'
import { createVerifiedCache } from '../../src/tokens/verified-cache.js'
import { scopedFeed } from '../../src/wiring/scoped-feed.js'
import { keptApiToken, replacement } from '../contracts/store/api-tokens.js'
import { anEvent, now, until } from '../contracts/store/rows.js'
import { openSqliteMemory, randomId } from '../support/databases.js'

/** One store and one change feed, and the guards of the application and of two spaces over them. */
async function world() {
  const opened = await openSqliteMemory()
  onTestFinished(() => opened.close())
  const listeners: ((change: Change | null) => void)[] = []
  const feed = { subscribe: (listener: (change: Change | null) => void) => void listeners.push(listener) }
  const deliver = () => {
    for (const change of opened.changes.splice(0)) for (const listener of listeners) listener(change)
  }
  const guards = { application: '', victim: randomId(), attacker: randomId() }
  return { store: opened.store, feed, deliver, guards }
}

type World = Awaited<ReturnType<typeof world>>

const aGet: HttpRequest = {
  method: 'GET',
  path: '/api/notes',
  query: '',
  mount: '',
  headers: {},
  rawHeaders: null,
  ip: '192.0.2.1',
  body: { kind: 'parsed', value: undefined },
  native: null,
}

const keyring = createKeyring(['scopes-test-key-0123456789abcdefghij'])

/** The guard's check of API tokens, as wiring builds it, over the ports of that scope. */
function tokenGuard({ store, feed }: World, scope: string) {
  const parts = store.at(scope)
  const clock = createTestClock(now * 1000)
  const shared = createSharedClock({ now: clock.now, monotonic: clock.monotonic, testing: true })
  const state = { reads: 0 }
  const check = createApiTokenCheck({
    pause: async () => {},
    apiTokens: {
      findAllByHash: (hashes) => parts.apiTokens.findAllByHash(hashes),
      findByHash(hashes) {
        state.reads += 1
        return parts.apiTokens.findByHash(hashes)
      },
    },
    keyring,
    cache: createVerifiedCache<KnownApiToken>(),
    changes: followTokens(scopedFeed(feed, scope)),
    limits: async () => ({ headers: {}, fault: null }),
    isOverLimit: () => false,
    lastUses: { note() {} },
    clock: shared,
    knowsClients: true,
    clientIp: () => '192.0.2.1',
  })
  async function keep(): Promise<{ id: string; token: string }> {
    const token = randomUUID()
    const { id } = await keptApiToken(parts, { tokenHash: keyring.digest('api-token', token), cidrs: [] })
    return { id, token }
  }
  const ask = async (token: string) => check.check(token, aGet, shared.moment())
  return { ...parts, state, keep, ask, isOver: check.isOver }
}

const refused = { code: 'unauthenticated' }

test('ATK-150 an API token opens its own scope, and none beside it', async () => {
  const here = await world()
  const guards = Object.values(here.guards).map((scope) => tokenGuard(here, scope))
  for (const guard of guards) {
    const { id, token } = await guard.keep()
    expect(await guard.ask(token)).toMatchObject({ kind: 'apiToken', tokenId: id })
    for (const other of guards.filter((each) => each !== guard)) {
      await expect(other.ask(token)).rejects.toMatchObject(refused)
    }
  }
})

test('ATK-150 a token that is removed or rotated loses its open connections at once, those of other spaces stay', async () => {
  const here = await world()
  const [victim, attacker] = [tokenGuard(here, here.guards.victim), tokenGuard(here, here.guards.attacker)]
  const theirs = await attacker.keep()
  const other = await attacker.ask(theirs.token)
  for (const end of ['remove', 'rotate'] as const) {
    const { id, token } = await victim.keep()
    const principal = await victim.ask(token)
    expect(victim.isOver(principal)).toBe(false)
    const step = { until, audit: anEvent() }
    if (end === 'remove') await victim.apiTokens.remove(id, step)
    else await victim.apiTokens.rotate(replacement(id, now), step)
    here.deliver()
    expect([victim.isOver(principal), attacker.isOver(other)]).toEqual([true, false])
    await expect(victim.ask(token)).rejects.toMatchObject(refused)
  }
  expect(await attacker.ask(theirs.token)).toBe(other)
  expect(attacker.state.reads).toBe(1)
})

test('ATK-124 a space that changes its tokens and settings makes no other guard read or wait', async () => {
  const here = await world()
  const victim = tokenGuard(here, here.guards.victim)
  const attacker = tokenGuard(here, here.guards.attacker)
  const lists: (readonly string[])[] = []
  const access = createAccessFeed({
    accessSettings: victim.accessSettings,
    revocations: scopedFeed(here.feed, here.guards.victim),
    timer: () => () => {},
    clock: { monotonicMs: () => 0 },
    logger: { warn() {}, error() {} },
    use: ({ networks }) => void lists.push(networks),
  })
  onTestFinished(() => access.close())
  await access.start()
  const { token } = await victim.keep()
  await victim.ask(token)

  for (let turn = 0; turn < 3; turn += 1) {
    const { id } = await attacker.keep()
    await attacker.apiTokens.remove(id, { until, audit: anEvent() })
    await attacker.accessSettings.addNetwork(`192.0.2.${turn}`, anEvent(), () => true)
    await attacker.accessSettings.setJwksUrl(`https://a.example.test/${turn}`, anEvent())
    here.deliver()
    expect(access.isCurrent()).toBe(true)
    await victim.ask(token)
  }
  expect([victim.state.reads, lists]).toEqual([1, [[]]])

  await victim.accessSettings.addNetwork('203.0.113.7', anEvent(), () => true)
  here.deliver()
  expect(access.isCurrent()).toBe(false)
  expect(await access.catchUp()).toBe(true)
  expect(lists.at(-1)).toEqual(['203.0.113.7'])
})
