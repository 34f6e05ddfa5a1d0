import { expect, test } from 'vitest'
import type { ApiTokenRecord } from '../../../src/model/api-token.js'
import type { Store } from '../../../src/store/store.js'
import { randomId, type TestStore } from '../../support/databases.js'
import { anEvent, atOnce, auditedEvents, now, stepOf, until } from './rows.js'

const created = () => anEvent({ event: 'api_token_created' })
const removal = stepOf('api_token_removed')
const rotation = stepOf('api_token_rotated')

function aToken(overrides: Partial<ApiTokenRecord> = {}): ApiTokenRecord {
  const id = randomId()
  return {
    id,
    tokenHash: `key1.${id}-token`,
    name: 'nightly report – Zürich',
    access: 'READ',
    cidrs: ['192.0.2.0/24', '2001:db8::/32'],
    createdAt: now,
    expiresAt: now + 1_000,
    lastUsedAt: null,
    replacedBy: null,
    ...overrides,
  }
}

export async function keptApiToken(
  { apiTokens }: Pick<Store, 'apiTokens'>,
  overrides: Partial<ApiTokenRecord> = {},
): Promise<ApiTokenRecord> {
  const token = aToken(overrides)
  await apiTokens.create(token, created())
  return token
}

export function replacement(id: string, endsAt = now) {
  const successor = { id: randomId(), tokenHash: `key2.${randomId()}-token`, createdAt: now + 5 }
  return { id, successor, endsAt, now }
}

export function apiTokensContract(current: () => TestStore): void {
  findingContract(current)
  removingContract(current)
  rotatingContract(current)
  usingContract(current)
}

function findingContract(current: () => TestStore): void {
  test('a token is found by any of its digests, every field as it was given, also when it has expired', async () => {
    const { store, changes } = current()
    const token = await keptApiToken(store)
    const bare = await keptApiToken(store, { access: 'READWRITE', cidrs: [], expiresAt: null })
    const expired = await keptApiToken(store, { expiresAt: now - 1_000 })
    for (const each of [token, bare, expired]) {
      expect(await store.apiTokens.findByHash(['key9.x', each.tokenHash])).toEqual(each)
    }
    expect(await store.apiTokens.findByHash([token.tokenHash.toUpperCase()])).toBeNull()
    expect(await store.apiTokens.findByHash([])).toBeNull()
    expect(await auditedEvents(store)).toEqual(['api_token_created', 'api_token_created', 'api_token_created'])
    expect(changes).toEqual([])
  })

  test('of many digests all tokens are found at once', async () => {
    const { store } = current()
    const tokens = [await keptApiToken(store), await keptApiToken(store, { expiresAt: now - 1_000 })]
    const others = Array.from({ length: 600 }, (_, n) => `key9.${n}`)
    const hashes = tokens.map(({ tokenHash }) => tokenHash)
    const found = await store.apiTokens.findAllByHash([...hashes, ...others, ...hashes.slice(0, 1)])
    const byHash = new Map(found.map((token) => [token.tokenHash, token]))
    expect(byHash).toEqual(new Map(tokens.map((token) => [token.tokenHash, token])))
    expect(await store.apiTokens.findAllByHash([])).toEqual([])
  })

  test('two tokens never have one digest, and the second leaves no trace', async () => {
    const { store } = current()
    const token = await keptApiToken(store)
    await expect(store.apiTokens.create(aToken({ tokenHash: token.tokenHash }), created())).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    expect(await store.apiTokens.findByHash([token.tokenHash])).toEqual(token)
    expect(await auditedEvents(store)).toEqual(['api_token_created'])
  })

  test('tokens are listed page after page, the newest first', async () => {
    const { store } = current()
    const ages = [0, 10, 10, 10, 20]
    const tokens: ApiTokenRecord[] = []
    for (const age of ages) tokens.push(await keptApiToken(store, { createdAt: now - age }))
    const wanted = [...tokens].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))

    const listed: ApiTokenRecord[] = []
    for (let more = true; more; ) {
      const page = await store.apiTokens.list({ after: listed.at(-1) ?? null, limit: 2 })
      listed.push(...page)
      more = page.length === 2
    }
    expect(listed).toEqual(wanted)
  })

  test('a token keeps the key of its digest in use until it expires', async () => {
    const { store } = current()
    await keptApiToken(store, { tokenHash: 'k1.x', expiresAt: now + 5 })
    await keptApiToken(store, { tokenHash: 'k2.x', expiresAt: null })
    expect(await store.keysInUse(now + 4)).toEqual(['k1', 'k2'])
    expect(await store.keysInUse(now + 5)).toEqual(['k2'])
  })
}

function removingContract(current: () => TestStore): void {
  test('a removed token is gone, everybody is told, and others stay', async () => {
    const { store, changes } = current()
    const [token, other] = [await keptApiToken(store), await keptApiToken(store)]
    expect(await store.apiTokens.remove(token.id, removal())).toBe(true)
    expect(await store.apiTokens.findByHash([token.tokenHash])).toBeNull()
    expect(await store.apiTokens.findByHash([other.tokenHash])).toEqual(other)
    expect(changes).toMatchObject([{ kind: 'api_token', subject: token.id, version: null, until }])
    expect(await auditedEvents(store)).toEqual(['api_token_created', 'api_token_created', 'api_token_removed'])
  })

  test('of many removals at once exactly one counts; an unknown id is none', async () => {
    const { store, changes } = current()
    const token = await keptApiToken(store)
    const removed = await atOnce(() => store.apiTokens.remove(token.id, removal()))
    expect(removed.filter(Boolean)).toHaveLength(1)
    expect(await store.apiTokens.remove('unknown', removal())).toBe(false)
    expect(changes).toHaveLength(1)
    expect(await auditedEvents(store)).toEqual(['api_token_created', 'api_token_removed'])
  })

  test('a removal that fails in the middle has not happened', async () => {
    const { store, changes } = current()
    const token = await keptApiToken(store)
    const audit = anEvent()
    await store.audit.record(audit)
    await expect(store.apiTokens.remove(token.id, { until, audit })).rejects.toMatchObject({ status: 503 })
    expect(await store.apiTokens.findByHash([token.tokenHash])).toEqual(token)
    expect(changes).toEqual([])
  })

  test('tokens that expired long ago are forgotten, the oldest first and no more than asked for', async () => {
    const { store } = current()
    const ends = [now - 10, now - 30, now - 20, now, null]
    const tokens: ApiTokenRecord[] = []
    for (const expiresAt of ends) tokens.push(await keptApiToken(store, { expiresAt }))
    const left = async () => {
      const found = await Promise.all(tokens.map(({ tokenHash }) => store.apiTokens.findByHash([tokenHash])))
      return found.map((token) => token !== null)
    }
    expect(await store.apiTokens.prune(now, 2)).toBe(2)
    expect(await left()).toEqual([true, false, false, true, true])
    expect(await store.apiTokens.prune(now, 10)).toBe(1)
    expect(await store.apiTokens.prune(now, 10)).toBe(0)
    expect(await left()).toEqual([false, false, false, true, true])
  })
}

function rotatingContract(current: () => TestStore): void {
  test('a successor is what the former token was, which ends with the overlap and names it', async () => {
    const { store, changes } = current()
    const token = await keptApiToken(store)
    await store.apiTokens.touch([{ id: token.id, at: now + 1 }])
    const turn = replacement(token.id, now + 60)
    const successor = await store.apiTokens.rotate(turn, rotation())
    expect(successor).toEqual({ ...token, ...turn.successor, lastUsedAt: null, replacedBy: null })
    expect(await store.apiTokens.findByHash([turn.successor.tokenHash])).toEqual(successor)
    expect(await store.apiTokens.findByHash([token.tokenHash])).toEqual({
      ...token,
      lastUsedAt: now + 1,
      expiresAt: now + 60,
      replacedBy: turn.successor.id,
    })
    expect(changes).toMatchObject([{ kind: 'api_token', subject: token.id, until }])
    expect(await auditedEvents(store)).toEqual(['api_token_created', 'api_token_rotated'])
  })

  test('the overlap ends a token that had no end, and lengthens none', async () => {
    const { store } = current()
    const [endless, short] = [
      await keptApiToken(store, { expiresAt: null }),
      await keptApiToken(store, { expiresAt: now + 10 }),
    ]
    const ends = []
    for (const { id, tokenHash } of [endless, short]) {
      const successor = await store.apiTokens.rotate(replacement(id, now + 60), rotation())
      const former = await store.apiTokens.findByHash([tokenHash])
      ends.push([former?.expiresAt, successor?.expiresAt])
    }
    expect(ends).toEqual([
      [now + 60, null],
      [now + 10, now + 10],
    ])
  })

  test('a successor can have an end of its own, or none', async () => {
    const { store } = current()
    const [one, other] = [await keptApiToken(store), await keptApiToken(store)]
    const later = await store.apiTokens.rotate({ ...replacement(one.id), expiresAt: now + 9_000 }, rotation())
    const never = await store.apiTokens.rotate({ ...replacement(other.id), expiresAt: null }, rotation())
    expect([later?.expiresAt, never?.expiresAt]).toEqual([now + 9_000, null])
  })

  test('of many rotations at once exactly one has a successor', async () => {
    const { store, changes } = current()
    const token = await keptApiToken(store)
    const successors = await atOnce(() => store.apiTokens.rotate(replacement(token.id, now + 60), rotation()))
    expect(successors.filter((successor) => successor !== null)).toHaveLength(1)
    expect(await store.apiTokens.list({ after: null, limit: 100 })).toHaveLength(2)
    expect(changes).toHaveLength(1)
  })

  test('a token that is unknown, expired or replaced has no successor, and nothing changes', async () => {
    const { store, changes } = current()
    const expired = await keptApiToken(store, { expiresAt: now })
    const replaced = await keptApiToken(store, { replacedBy: 'another' })
    for (const id of ['unknown', expired.id, replaced.id]) {
      expect(await store.apiTokens.rotate(replacement(id), rotation())).toBeNull()
    }
    expect(await store.apiTokens.findByHash([expired.tokenHash])).toEqual(expired)
    expect(await store.apiTokens.list({ after: null, limit: 100 })).toHaveLength(2)
    expect(changes).toEqual([])
    expect(await auditedEvents(store)).toEqual(['api_token_created', 'api_token_created'])
  })

  test('of a rotation and a removal at once, whatever comes first, the former token is gone', async () => {
    const { store } = current()
    const tokens = await atOnce(() => keptApiToken(store))
    const outcomes = await Promise.all(
      tokens.map(async ({ id, tokenHash }, index) => {
        const calls = [
          () => store.apiTokens.rotate(replacement(id, now + 60), rotation()),
          () => store.apiTokens.remove(id, removal()),
        ]
        const running = (index % 2 === 0 ? calls : calls.toReversed()).map((call) => call())
        const answers = await Promise.all(running)
        return [answers.includes(true), await store.apiTokens.findByHash([tokenHash])]
      }),
    )
    expect(outcomes).toEqual(tokens.map(() => [true, null]))
  })
}

function usingContract(current: () => TestStore): void {
  test('the last use is the latest that anybody has told, whatever the order', async () => {
    const { store, openSecond } = current()
    const second = (await openSecond?.()) ?? store
    const [token, other] = [await keptApiToken(store), await keptApiToken(store)]
    await Promise.all([
      store.apiTokens.touch([
        { id: token.id, at: now + 30 },
        { id: other.id, at: now + 1 },
      ]),
      second.apiTokens.touch([
        { id: other.id, at: now + 2 },
        { id: token.id, at: now + 10 },
        { id: 'gone', at: now + 10 },
      ]),
    ])
    await store.apiTokens.touch([{ id: token.id, at: now + 20 }])
    await store.apiTokens.touch([])
    const used = async ({ tokenHash }: ApiTokenRecord) => (await store.apiTokens.findByHash([tokenHash]))?.lastUsedAt
    expect([await used(token), await used(other)]).toEqual([now + 30, now + 2])
  })

  test('of many uses at once each counts for its own token, and one that is named twice has its latest', async () => {
    const { store } = current()
    const tokens = await atOnce((index) => keptApiToken(store, { lastUsedAt: index % 5 === 0 ? now + 9 : null }), 55)
    const uses = tokens.map(({ id }, index) => ({ id, at: now + (index % 3) }))
    const [first] = uses
    if (!first) throw new Error('55 were kept')
    await store.apiTokens.touch([{ ...first, at: now + 12 }, { id: 'gone', at: now }, ...uses.toReversed(), first])
    const listed = new Map(
      (await store.apiTokens.list({ after: null, limit: 100 })).map(({ id, lastUsedAt }) => [id, lastUsedAt]),
    )
    const expected = tokens.map((_, index) => now + (index === 0 ? 12 : index % 5 === 0 ? 9 : index % 3))
    expect(tokens.map(({ id }) => listed.get(id))).toEqual(expected)
  })
}
