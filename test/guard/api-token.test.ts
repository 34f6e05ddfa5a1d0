import { describe, expect, it, onTestFinished } from 'vitest'
import { storeUnavailable } from '../../src/errors.js'
import { createApiTokenCheck, type KnownApiToken } from '../../src/guard/api-token.js'
import { followTokens } from '../../src/guard/token-changes.js'
import type { HttpRequest } from '../../src/http/message.js'
import { createKeyring } from '../../src/lib/keyring.js'
import { createSharedClock } from '../../src/lib/shared-clock.js'
import type { Change } from '../../src/model/change.js'
import type { ApiTokenPrincipal } from '../../src/model/principal.js'
import { createTestClock } from '../../src/testing/clock.js'
import { createTestRuntime } from '../../src/testing.js'
import { createVerifiedCache } from '../../src/tokens/verified-cache.js'
import { sharedSettings, testAuth } from '../support/auth.js'
import { openSqliteMemory } from '../support/databases.js'
import { failingDatabase } from '../support/failing-database.js'

const token = '3f0c2d1e-9a4b-4c6d-8e7f-0a1b2c3d4e5f'
const get = { method: 'GET', headers: {} } as unknown as HttpRequest

/** The check over a real store; `reads` counts, and `pause` holds reads back. */
async function world() {
  const opened = await openSqliteMemory()
  onTestFinished(() => opened.close())
  const { apiTokens } = opened.store
  const keyring = createKeyring(['api-token-test-key-0123456789abcdef'])
  const clock = createTestClock(1_700_000_000_000)
  const shared = createSharedClock({ now: clock.now, monotonic: clock.monotonic, testing: true })
  const listeners: ((change: Change | null) => void)[] = []
  const tell = (change: Change | null) => {
    for (const listener of listeners) listener(change)
  }
  const state = {
    reads: 0,
    released: Promise.resolve(),
    paused: Promise.resolve(),
    noted: [] as number[],
    counted: 0,
    overLimit: false,
    failing: false,
  }
  const check = createApiTokenCheck({
    apiTokens: {
      async findByHash(hashes) {
        state.reads += 1
        const found = await apiTokens.findByHash(hashes)
        await state.released
        return found
      },
      async findAllByHash(hashes) {
        state.reads += 1
        if (state.failing) throw storeUnavailable()
        return apiTokens.findAllByHash(hashes)
      },
    },
    pause: () => state.paused,
    keyring,
    cache: createVerifiedCache<KnownApiToken>(),
    changes: followTokens({ subscribe: (listener) => void listeners.push(listener) }),
    isOverLimit: () => state.overLimit,
    limits: async () => {
      state.counted += 1
      return { headers: {}, fault: null }
    },
    lastUses: {
      note: (_id, at) => void state.noted.push(at),
    },
    clock: shared,
    knowsClients: true,
    clientIp: () => '192.0.2.1',
  })
  const keep = (expiresAt: number | null = null) =>
    apiTokens.create(
      {
        id: 't1',
        tokenHash: keyring.digest('api-token', token),
        name: 'report',
        access: 'READWRITE',
        cidrs: [],
        createdAt: 1_700_000_000,
        expiresAt,
        lastUsedAt: null,
        replacedBy: null,
      },
      anAudit('api_token_created'),
    )
  const remove = async () => {
    await apiTokens.remove('t1', { until: 1_700_000_900, audit: anAudit('api_token_removed') })
    for (const change of opened.changes.splice(0)) tell(change)
  }
  const hold = () => {
    let release = () => {}
    state.released = new Promise((resolve) => {
      release = resolve
    })
    return () => release()
  }
  const ofAnyText = (text: string) => check.check(text, get, shared.moment())
  return { state, clock, check, tell, keep, remove, hold, ask: () => ofAnyText(token), ofAnyText }
}

function anAudit(event: 'api_token_created' | 'api_token_removed') {
  const at = { atMs: 1_700_000_000_000, ip: null, userAgent: null, actor: null, userId: null, sessionId: null }
  return {
    ...at,
    id: `${event}${Math.floor(performance.now() * 1000)}`,
    event,
    outcome: 'success' as const,
    detail: {},
  }
}

const change = (subject: string): Change => {
  return { id: `c-${subject}`, atMs: 1, kind: 'api_token', subject, version: null, until: 1_700_000_900 }
}

describe('the check of API tokens', () => {
  it('reads once, and then answers at once with one frozen principal', async () => {
    const { state, keep, ask } = await world()
    await keep()
    const first = await ask()
    expect(first).toEqual({ kind: 'apiToken', tokenId: 't1', name: 'report', access: 'READWRITE' })
    expect(Object.isFrozen(first)).toBe(true)
    const second = ask()
    expect(second).toBe(first)
    expect([state.reads, state.noted.length, state.counted]).toEqual([1, 1, 0])
  })

  it('notes a use once a second, also of a token that was read anew', async () => {
    const { state, clock, keep, ask, tell } = await world()
    await keep()
    for (let turn = 0; turn < 3; turn += 1) await ask()
    expect(state.noted).toEqual([1_700_000_000])
    tell(change('t1'))
    await ask()
    expect([state.reads, state.noted.length]).toEqual([2, 1])
    await clock.advance('1s')
    for (let turn = 0; turn < 3; turn += 1) await ask()
    expect([state.reads, state.noted]).toEqual([2, [1_700_000_000, 1_700_000_001]])
  })

  it('answers at once in whatever case, by one memory', async () => {
    const { state, keep, ofAnyText } = await world()
    await keep()
    const first = await ofAnyText(token.toUpperCase())
    expect(ofAnyText(token)).toBe(first)
    expect(ofAnyText(token.toUpperCase())).toBe(first)
    expect(state.reads).toBe(1)
  })

  it('has one read for many requests at once', async () => {
    const { state, keep, ask } = await world()
    await keep()
    await Promise.all(Array.from({ length: 50 }, ask))
    expect(state.reads).toBe(1)
  })

  it('remembers no failure', async () => {
    const { state, keep, ask } = await world()
    await expect(ask()).rejects.toMatchObject({ code: 'unauthenticated' })
    await keep()
    expect(await ask()).toMatchObject({ tokenId: 't1' })
    expect([state.reads, state.counted]).toEqual([2, 1])
  })

  it('looks up nothing that no token of ours can be', async () => {
    const { state, ofAnyText } = await world()
    const others = ['', 'x', `{${token}}`, `${token}0`, token.slice(1), token.replace('4c6d', '1c6d'), `${token}\n`]
    for (const text of [...others, '00000000-0000-0000-0000-000000000000', 'é'.repeat(36), 'x'.repeat(20_000)]) {
      expect(() => ofAnyText(text)).toThrow(expect.objectContaining({ code: 'unauthenticated' }))
    }
    expect([state.reads, state.counted]).toEqual([0, 0])
  })

  it('reads a token in use again beside the requests, and one that rested a minute before the next', async () => {
    const { state, clock, keep, ask } = await world()
    await keep()
    const first = await ask()
    await clock.advance('44s')
    expect(ask()).toBe(first)
    expect(state.reads).toBe(1)
    await clock.advance('2s')
    expect(ask()).toBe(first)
    await expect.poll(() => state.reads).toBe(2)
    await clock.advance('30s')
    expect(ask()).toBe(first)

    await clock.advance('61s')
    const waited = ask()
    expect(waited).toBeInstanceOf(Promise)
    expect(await waited).toBe(first)
    expect(state.reads).toBe(3)
  })

  it('forgets a token as soon as it hears of a change, and all of them when it may have missed one', async () => {
    const { state, keep, tell, ask } = await world()
    await keep()
    await ask()
    tell(change('another'))
    tell({ ...change('t1'), kind: 'session' })
    expect(ask()).not.toBeInstanceOf(Promise)
    for (const news of [change('t1'), null]) {
      tell(news)
      expect(ask()).toBeInstanceOf(Promise)
      await ask()
    }
    expect(state.reads).toBe(3)
  })

  it('ATK-063 a token that is removed while it is read is not remembered, and no later request rides on that read', async () => {
    const { keep, remove, hold, ask } = await world()
    await keep()
    const release = hold()
    const before = ask()
    await new Promise((resolve) => setTimeout(resolve, 20))
    await remove()
    const after = ask()
    release()
    expect(await before).toMatchObject({ tokenId: 't1' })
    await expect(after).rejects.toMatchObject({ code: 'unauthenticated' })
    await expect(ask()).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('does not take what an older read brings late for what a newer one has found', async () => {
    const { state, keep, tell, check, hold, ask } = await world()
    await keep()
    const release = hold()
    const older = ask()
    await new Promise((resolve) => setTimeout(resolve, 20))
    tell(change('t1'))
    state.released = Promise.resolve()
    const principal = await ask()
    release()
    await older
    expect(ask()).toBe(principal)
    expect([state.reads, check.isOver(principal)]).toEqual([2, false])
  })

  it('knows when a principal is over: by the news, by its end, and when it is none of its own', async () => {
    const { clock, keep, tell, check, ask } = await world()
    await keep(1_700_000_100)
    const principal = await ask()
    expect(check.isOver(principal)).toBe(false)
    const copy: ApiTokenPrincipal = { ...principal }
    expect(check.isOver(copy)).toBe(true)
    tell(change('t1'))
    expect(check.isOver(principal)).toBe(true)
    expect(check.isOver(await ask())).toBe(false)
    tell(null)
    expect(check.isOver(await ask())).toBe(false)
    await clock.advance('100s')
    expect(check.isOver(principal)).toBe(true)
    await expect(ask()).rejects.toMatchObject({ code: 'unauthenticated' })
  })
})

describe('API tokens over several processes', () => {
  const byToken = (text: string) => ({ as: 'server', headers: { 'x-apikey': text } }) as const

  it('ATK-063 a removed one is dead here at once and elsewhere within a second', async () => {
    const shared = sharedSettings()
    const runtime = createTestRuntime()
    const here = await testAuth(shared, runtime)
    const there = await testAuth(shared, runtime)
    const { id, token } = await here.auth.apiTokens.create({ name: 'report' })
    const ask = async ({ client }: typeof here) => (await client(byToken(token)).get('/api/notes')).status
    expect([await ask(here), await ask(there)]).toEqual([200, 200])

    await here.auth.apiTokens.remove(id)
    expect(await ask(here)).toBe(401)
    await runtime.clock.advance(1_000)
    expect(await ask(there)).toBe(401)
  })

  it('a rotated one ends elsewhere, too, with the overlap', async () => {
    const shared = sharedSettings()
    const runtime = createTestRuntime()
    const here = await testAuth(shared, runtime)
    const there = await testAuth(shared, runtime)
    const former = await here.auth.apiTokens.create({ name: 'report' })
    const ask = async (text: string) => (await there.client(byToken(text)).get('/api/notes')).status
    expect(await ask(former.token)).toBe(200)
    const { token } = await here.auth.apiTokens.rotate(former.id, { overlap: '10s' })
    await runtime.clock.advance(1_000)
    expect([await ask(former.token), await ask(token)]).toEqual([200, 200])
    await runtime.clock.advance('9s')
    expect([await ask(former.token), await ask(token)]).toEqual([401, 200])
  })

  it('the last use is written beside the requests, the latest of all processes', async () => {
    const shared = sharedSettings()
    const runtime = createTestRuntime()
    const here = await testAuth(shared, runtime)
    const there = await testAuth(shared, runtime)
    const { token } = await here.auth.apiTokens.create({ name: 'report' })
    const lastUse = async () => (await here.auth.apiTokens.list()).items[0]?.lastUsedAt
    await here.client(byToken(token)).get('/api/notes')
    expect(await lastUse()).toBeNull()
    await runtime.clock.advance('10s')
    await expect.poll(lastUse).toBe('2026-01-01T00:00:00.000Z')
    await there.client(byToken(token)).get('/api/notes')
    await there.auth.close()
    expect(await lastUse()).toBe('2026-01-01T00:00:10.000Z')
  })
})

describe('while the store does not answer', () => {
  it('an unknown token gets 503, a known one goes on until the news is too old, and both come back', async () => {
    const database = failingDatabase()
    const { auth, client, runtime } = await testAuth({ database: database.dialect })
    const { token } = await auth.apiTokens.create({ name: 'report' })
    const other = await auth.apiTokens.create({ name: 'other' })
    const ask = async (text: string) =>
      (await client({ as: 'server', headers: { 'x-apikey': text } }).get('/api/n')).status
    expect(await ask(token)).toBe(200)
    database.failAfter(0)
    expect([await ask(token), await ask(other.token)]).toEqual([200, 503])
    await runtime.clock.advance('11s')
    expect(await ask(token)).toBe(503)
    database.failAfter(Number.POSITIVE_INFINITY)
    await runtime.clock.advance('1s')
    expect([await ask(token), await ask(other.token)]).toEqual([200, 200])
  })

  it('ATK-102 a guess that cannot be counted is no answer', async () => {
    const database = failingDatabase()
    const { client } = await testAuth({ database: database.dialect, limits: {} })
    database.failAfter(1)
    const answer = await client({ as: 'server', headers: { 'x-apikey': token } }).get('/api/n')
    expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
    database.failAfter(Number.POSITIVE_INFINITY)
  })
})

const unknownToken = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

it('ATK-241 over the limit of its address 2,000 unknown tokens cost two reads, and a valid one among them is found', async () => {
  const { state, keep, ask, ofAnyText } = await world()
  await keep(null)
  state.overLimit = true
  let resume = () => {}
  state.paused = new Promise((resolve) => {
    resume = resolve
  })
  const refused = async (n: number) =>
    expect(ofAnyText(unknownToken(n))).rejects.toMatchObject({ code: 'unauthenticated' })
  await refused(0)
  expect(state.reads).toBe(1)
  const flood = Array.from({ length: 2_000 }, (_, n) => refused(n + 1))
  const valid = ask()
  resume()
  expect(await valid).toMatchObject({ tokenId: 't1' })
  await Promise.all(flood)
  expect([state.reads, state.counted]).toEqual([2, 2_001])
})

it('ATK-241 a batch that cannot be read fails alone', async () => {
  const { state, keep, ask } = await world()
  await keep(null)
  state.overLimit = true
  state.failing = true
  await expect(ask()).rejects.toMatchObject({ code: 'store_unavailable' })
  state.failing = false
  expect(await ask()).toMatchObject({ tokenId: 't1' })
})

it('ATK-241 a new API token works from an address that floods unknown ones', async () => {
  const { auth, client } = await testAuth({ limits: {} })
  const ask = async (text: string) =>
    (await client({ as: 'server', headers: { 'x-apikey': text } }).get('/api/notes')).status
  for (let n = 0; n < 30; n += 1) expect(await ask(unknownToken(n))).toBe(401)
  expect(await ask(unknownToken(30))).toBe(429)
  const { token } = await auth.apiTokens.create({ name: 'report' })
  expect([await ask(unknownToken(31)), await ask(token), await ask(unknownToken(32))]).toEqual([429, 200, 429])
})
