import { describe, expect, test } from 'vitest'
import type {
  Claim,
  Claims,
  HeldClaim,
  ReleaseRecord,
  SpaceNouns,
  StoredEnvironment,
} from '../../../src/host/store/spaces.js'
import type { Actor } from '../../../src/model/actor.js'
import type { Change } from '../../../src/model/change.js'
import type { Store } from '../../../src/store/store.js'
import { randomId } from '../../support/databases.js'
import { keptApiToken } from '../store/api-tokens.js'
import { anEvent, atOnce, now, until } from '../store/rows.js'

/** The nouns of one host, and the store of its accounts in the same database. */
export interface OpenedSpaces {
  nouns: SpaceNouns
  store: Store
  changes: Change[]
  /** Another process on the same database. */
  openSecond(): Promise<SpaceNouns>
  /** Moves the store's clock. */
  pass(milliseconds: number): Promise<void>
}

const author: Actor = { kind: 'adminToken', tokenId: 'token-1' }
const leaseMs = 10_000

function aRelease(number: number, more: Partial<ReleaseRecord> = {}): ReleaseRecord {
  const git = { hash: 'a'.repeat(40), branch: 'main' }
  const facts = { sha256: 'b'.repeat(64), bytes: 1_234, git, dirty: true, tool: '1.0.0', author }
  return { number, ...facts, createdAt: now, outcome: null, fault: null, ...more }
}

async function aSpace({ spaces }: SpaceNouns, name = 'dev'): Promise<string> {
  const id = randomId()
  const space = { id, name, createdAt: now, dataKey: () => 'key00001.sealed' }
  expect(await spaces.create(space, anEvent({ event: 'space_created' }))).toBe(true)
  return id
}

async function claimOf(claims: Claims, spaceId: string): Promise<Claim> {
  const taken = await claims.take(spaceId, 'deploy', leaseMs)
  if (taken === null || 'heldFor' in taken) throw new Error('The claim is not free.')
  return taken
}

const notBusy = { busyWith: null, busyBy: null, busySinceMs: null }

const variable = { name: 'KEY', version: 1, sealed: 'id.value', encrypted: true, setAt: now, setBy: author }

/** @param open an empty database */
export function spacesContract(name: string, open: () => Promise<OpenedSpaces>): void {
  describe(`spaces on ${name}`, () => {
    spacesOn(open)
    claimsOn(open)
    releasesOn(open)
    environmentOn(open)
    removalOn(open)
  })
}

function spacesOn(open: () => Promise<OpenedSpaces>): void {
  test('a space is found by id and by name, and listed by name, page by page', async () => {
    const { nouns, store } = await open()
    const { spaces } = nouns
    const ids = [await aSpace(nouns, 'prod'), await aSpace(nouns, 'a-b'), await aSpace(nouns, 'dev')]
    const prod = { id: ids[0], name: 'prod', createdAt: now, release: null, generation: 1, ...notBusy }
    expect(await spaces.find(ids[0] ?? '')).toEqual(prod)
    expect(await spaces.findByName('prod')).toEqual(prod)
    expect([await spaces.find(randomId()), await spaces.findByName('PROD')]).toEqual([null, null])
    expect((await spaces.list({ after: null, limit: 2 })).map((space) => space.name)).toEqual(['a-b', 'dev'])
    expect(await spaces.list({ after: 'dev', limit: 2 })).toEqual([prod])
    expect((await store.audit.list({ limit: 9 })).map(({ event }) => event)).toEqual(Array(3).fill('space_created'))
  })

  test('of those who create one name at once, one gets it, with one event', async () => {
    const { nouns, store } = await open()
    const create = () =>
      nouns.spaces.create(
        { id: randomId(), name: 'dev', createdAt: now, dataKey: () => 'k' },
        anEvent({ event: 'space_created' }),
      )
    const outcomes = await atOnce(create, 5)
    expect(outcomes.filter((isNew) => isNew)).toHaveLength(1)
    expect(await store.audit.list({ limit: 9 })).toHaveLength(1)
  })
}

function claimsOn(open: () => Promise<OpenedSpaces>): void {
  test('ATK-192 of twenty claims at once in two processes, one is granted, and the others name what holds it', async () => {
    const { nouns, openSecond } = await open()
    const second = await openSecond()
    const id = await aSpace(nouns)
    const both = [nouns.claims, second.claims]
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, index) => both[index % 2]?.take(id, index % 3 ? 'env' : 'deploy', leaseMs)),
    )
    expect(taken.filter((claim) => claim && 'epoch' in claim)).toHaveLength(1)
    const { busyWith } = (await nouns.spaces.find(id)) ?? {}
    expect(new Set(taken.flatMap((claim) => (claim && 'heldFor' in claim ? [claim.heldFor] : [])))).toEqual(
      new Set([busyWith]),
    )
  })

  test('a claim of another space is free, and of an unknown one there is none', async () => {
    const { nouns } = await open()
    await claimOf(nouns.claims, await aSpace(nouns, 'dev'))
    await claimOf(nouns.claims, await aSpace(nouns, 'prod'))
    expect(await nouns.claims.take(randomId(), 'env', leaseMs)).toBeNull()
  })

  test('a released claim is free at once, a renewed one is held on, one that is not renewed is free after its lease', async () => {
    const { nouns, pass } = await open()
    const { claims } = nouns
    const id = await aSpace(nouns)
    await claims.release(await claimOf(claims, id))
    const claim = await claimOf(claims, id)
    await pass(leaseMs - 1)
    expect(await claims.renew(claim, leaseMs)).toBe(true)
    await pass(leaseMs - 1)
    expect(await claims.take(id, 'env', leaseMs)).toMatchObject({ heldFor: 'deploy', by: null })
    await pass(1)
    expect((await nouns.spaces.find(id))?.busyWith).toBeNull()
    await claimOf(claims, id)
  })

  test('ATK-238 a claim that is taken over ends, and is kept for the one who took it, in any of their sessions', async () => {
    const { nouns, store, pass } = await open()
    const { claims, releases, spaces } = nouns
    const id = await aSpace(nouns)
    const ann = { kind: 'user', userId: 'ann', sessionId: 'one', impersonating: null } as const
    const bob = { ...ann, userId: 'bob' }
    const token = { kind: 'adminToken', tokenId: 'a41f' } as const
    const hold = (by: Actor) => ({
      ...{ by, leaseMs },
      audit: ({ heldFor }: HeldClaim) => anEvent({ event: 'space_taken_over', detail: { change: heldFor } }),
    })
    expect(await claims.takeOver(id, hold(ann))).toBeNull()
    expect(await claims.takeOver(randomId(), hold(ann))).toBeNull()

    const first = await claims.take(id, 'deploy', leaseMs, token)
    if (first === null || 'heldFor' in first) throw new Error('The claim is not free.')
    expect(await claims.takeOver(id, hold(ann))).toMatchObject({ heldFor: 'deploy', by: token })
    expect(await spaces.find(id)).toMatchObject({ busyWith: 'hold', busyBy: ann, busySinceMs: expect.any(Number) })
    expect(await claims.renew(first, leaseMs)).toBe(false)
    expect(await releases.add(first, aRelease(1))).toBe(false)
    await claims.release(first)
    for (const other of [bob, token, null]) {
      expect(await claims.take(id, 'env', leaseMs, other)).toMatchObject({ heldFor: 'hold', by: ann })
    }
    const second = await claims.take(id, 'env', leaseMs, { ...ann, sessionId: 'two' })
    expect(second).toMatchObject({ spaceId: id })
    // A change of one's own gives way to no other.
    expect(await claims.take(id, 'env', leaseMs, ann)).toMatchObject({ heldFor: 'env' })
    expect(await claims.takeOver(id, hold(bob))).toMatchObject({ heldFor: 'env' })
    await pass(leaseMs)
    expect(await claims.take(id, 'env', leaseMs, token)).toMatchObject({ spaceId: id })
    const events = (await store.audit.list({ limit: 9 })).map(({ event, detail }) => [event, detail.change])
    expect(events.slice(0, 2)).toEqual([
      ['space_taken_over', 'env'],
      ['space_taken_over', 'deploy'],
    ])
  })

  test('ATK-280 a draft is kept while its lease is renewed, and cannot be put in force after it', async () => {
    const { nouns, store, openSecond, pass } = await open()
    const second = await openSecond()
    const { claims, generations } = nouns
    const id = await aSpace(nouns)
    const drafts = await atOnce(() => generations.beginDraft(id, leaseMs), 5)
    expect(drafts.toSorted()).toEqual([2, 3, 4, 5, 6])
    await pass(leaseMs - 1)
    expect(await generations.renewDraft(id, 4, leaseMs)).toBe(true)
    expect((await second.generations.liveDrafts(id)).toSorted()).toEqual([2, 3, 4, 5, 6])
    await generations.endDraft(id, 6)
    await pass(1)
    expect(await second.generations.liveDrafts(id)).toEqual([4])
    expect(await generations.renewDraft(id, 2, leaseMs)).toBe(false)
    const claim = await claimOf(claims, id)
    const change = { isDraft: true, keepMs: 1_000, audit: anEvent({ event: 'restored' }) }
    const before = (await store.audit.list({ limit: 9 })).length
    expect(await generations.switchTo(claim, { ...change, generation: 2 })).toBe(false)
    expect(await store.audit.list({ limit: 9 })).toHaveLength(before)
    expect(await generations.switchTo(claim, { ...change, generation: 4 })).toBe(true)
    expect(await second.generations.liveDrafts(id)).toEqual([])
    expect(await generations.read(id)).toMatchObject({ current: 4, former: 1 })
  })

  test('ATK-192 a holder whose lease ran out loses every write to the next holder', async () => {
    const { nouns, store, pass } = await open()
    const { claims, releases, environment, spaces } = nouns
    const id = await aSpace(nouns)
    const first = await claimOf(claims, id)
    await releases.add(first, aRelease(1))
    await pass(leaseMs)
    const second = await claimOf(claims, id)
    const events = (await store.audit.list({ limit: 9 })).length

    const event = anEvent({ event: 'released' })
    expect(await claims.renew(first, leaseMs)).toBe(false)
    expect(await releases.reserve(first)).toBeNull()
    expect(await releases.add(first, aRelease(2))).toBe(false)
    expect(await releases.putInForce(first, 1, event)).toBe(false)
    expect(await releases.fail(first, { number: 1, fault: 'No.' }, event)).toBe(false)
    expect(await releases.remove(first, [1])).toBe(false)
    expect(await releases.undeploy(first, event)).toBe(false)
    expect(await environment.set(first, variable, event)).toBe(false)
    expect(await environment.remove(first, 'KEY', event)).toBe('not_current')
    expect(await spaces.remove(first, { until, audit: event })).toBe(false)
    await claims.release(first)

    expect(await releases.list(id)).toEqual([aRelease(1)])
    expect(await spaces.find(id)).toMatchObject({ release: null, busyWith: 'deploy' })
    expect(await store.audit.list({ limit: 9 })).toHaveLength(events)
    expect(await releases.putInForce(second, 1, event)).toBe(true)
  })

  test('after the claim is released, its late writes are refused', async () => {
    const { nouns } = await open()
    const id = await aSpace(nouns)
    const claim = await claimOf(nouns.claims, id)
    await nouns.claims.release(claim)
    expect(await nouns.releases.add(claim, aRelease(1))).toBe(false)
    expect(await nouns.claims.renew(claim, leaseMs)).toBe(false)
  })
}

function releasesOn(open: () => Promise<OpenedSpaces>): void {
  test('numbers count up and are never given twice, not after all releases are gone', async () => {
    const { nouns } = await open()
    const { releases, claims } = nouns
    const claim = await claimOf(claims, await aSpace(nouns))
    expect([await releases.reserve(claim), await releases.reserve(claim)]).toEqual([1, 2])
    await releases.add(claim, aRelease(2))
    await releases.undeploy(claim, anEvent({ event: 'undeployed' }))
    expect(await releases.reserve(claim)).toBe(3)
  })

  test('a release is listed as it was added, in its own space only', async () => {
    const { nouns } = await open()
    const { releases, claims } = nouns
    const [id, other] = [await aSpace(nouns, 'dev'), await aSpace(nouns, 'prod')]
    const claim = await claimOf(claims, id)
    const bare = aRelease(2, { git: null, dirty: null, author: null })
    await releases.add(claim, aRelease(1))
    await releases.add(claim, bare)
    expect(await releases.list(id)).toEqual([bare, aRelease(1)])
    expect(await releases.find(id, 1)).toEqual(aRelease(1))
    expect([await releases.find(other, 1), await releases.list(other)]).toEqual([null, []])
  })

  test('one release is in force; a failed one says why, and becomes healthy when it is put in force', async () => {
    const { nouns, store } = await open()
    const { releases, claims, spaces } = nouns
    const id = await aSpace(nouns)
    const claim = await claimOf(claims, id)
    await releases.add(claim, aRelease(1))
    await releases.fail(claim, { number: 1, fault: 'It throws.' }, anEvent({ event: 'released' }))
    expect(await releases.find(id, 1)).toMatchObject({ outcome: 'failed', fault: 'It throws.' })
    expect((await spaces.find(id))?.release).toBeNull()
    await releases.putInForce(claim, 1, anEvent({ event: 'rolled_back' }))
    expect(await releases.find(id, 1)).toMatchObject({ outcome: 'healthy', fault: null })
    expect((await spaces.find(id))?.release).toBe(1)
    const events = (await store.audit.list({ limit: 9 })).map(({ event }) => event)
    expect(events).toEqual(['rolled_back', 'released', 'space_created'])
  })

  test('the release in force is never taken off the list alone', async () => {
    const { nouns } = await open()
    const { releases, claims } = nouns
    const id = await aSpace(nouns)
    const claim = await claimOf(claims, id)
    for (const number of [1, 2, 3]) await releases.add(claim, aRelease(number))
    await releases.remove(claim, [3])
    await releases.putInForce(claim, 1, anEvent({ event: 'released' }))
    await releases.remove(claim, [1, 2])
    expect((await releases.list(id)).map(({ number }) => number)).toEqual([1])
  })
}

function environmentOn(open: () => Promise<OpenedSpaces>): void {
  test('variables are set, replaced and removed by name', async () => {
    const { nouns } = await open()
    const { environment, claims } = nouns
    const id = await aSpace(nouns)
    const claim = await claimOf(claims, id)
    const plain = { ...variable, name: 'A', encrypted: false, setBy: null }
    await environment.set(claim, variable, anEvent({ event: 'env_set' }))
    await environment.set(claim, plain, anEvent({ event: 'env_set' }))
    await environment.set(claim, { ...variable, version: 2 }, anEvent({ event: 'env_set' }))
    const key = { space: id, wrapped: 'key00001.sealed' }
    expect(await environment.read(id)).toEqual({ key, variables: [plain, { ...variable, version: 2 }] })
    expect(await environment.remove(claim, 'A', anEvent({ event: 'env_removed' }))).toBe('removed')
    expect(await environment.remove(claim, 'A', anEvent({ event: 'env_removed' }))).toBe('absent')
    expect((await environment.read(id))?.variables).toHaveLength(1)
    expect(await environment.read(randomId())).toBeNull()
  })

  test('all data keys are wrapped again, or none', async () => {
    const { nouns } = await open()
    const { environment } = nouns
    const ids = [await aSpace(nouns, 'dev'), await aSpace(nouns, 'prod')]
    expect(await environment.wrappingKeys()).toEqual(['key00001'])
    const rotated = anEvent({ event: 'keys_rotated' })
    const fails = environment.rewrap((rows) => {
      if (rows.length === 2) throw new Error('The key is missing.')
      return rows
    }, rotated)
    await expect(fails).rejects.toThrow()
    expect(await environment.wrappingKeys()).toEqual(['key00001'])
    const change = (space: string) => ({ space, wrapped: 'key00002.sealed' })
    expect(await environment.rewrap((rows) => rows.map(({ space }) => change(space)), rotated)).toBe(2)
    expect((await environment.read(ids[0] ?? ''))?.key).toEqual(change(ids[0] ?? ''))
    expect(await environment.wrappingKeys()).toEqual(['key00002'])
  })

  test('all values are sealed again, or none, and a change that has read the former key is lost', async () => {
    const { nouns } = await open()
    const { environment, claims } = nouns
    const id = await aSpace(nouns, 'dev')
    await aSpace(nouns, 'empty')
    const claim = await claimOf(claims, id)
    await environment.set(claim, variable, anEvent({ event: 'env_set' }))
    const event = anEvent({ event: 'keys_rotated' })
    const change = (stored: StoredEnvironment) => ({
      key: { ...stored.key, wrapped: 'key00002.sealed' },
      variables: stored.variables.map(({ name, version }) => ({ name, version, sealed: 'data0002.sealed' })),
    })
    const before = await environment.read(id)
    expect(await environment.reseal(change, event)).toEqual({ busy: ['dev'] })
    expect(await environment.read(id)).toEqual(before)
    await claims.renew(claim, 0)
    const fails = environment.reseal(() => {
      throw new Error('The key is missing.')
    }, event)
    await expect(fails).rejects.toThrow()
    expect(await environment.read(id)).toEqual(before)
    expect(await environment.reseal(change, event)).toEqual({ spaces: 2 })
    expect(await environment.read(id)).toEqual({
      key: { space: id, wrapped: 'key00002.sealed' },
      variables: [{ ...variable, sealed: 'data0002.sealed' }],
    })
    expect(await environment.wrappingKeys()).toEqual(['key00002'])
    expect(await environment.set(claim, variable, anEvent({ event: 'env_set' }))).toBe(false)
  })
}

function removalOn(open: () => Promise<OpenedSpaces>): void {
  test('ATK-150 a removed space takes its tokens, settings, releases and environment along, with change rows', async () => {
    const { nouns, store, changes } = await open()
    const { spaces, claims, releases, environment } = nouns
    const [id, other] = [await aSpace(nouns, 'dev'), await aSpace(nouns, 'prod')]
    const [own, kept] = [store.at(id), store.at(other)]
    const token = await keptApiToken(own)
    const stays = await keptApiToken(kept)
    for (const { accessSettings } of [own, kept]) {
      await accessSettings.addNetwork('192.0.2.0/24', anEvent({ event: 'access_changed' }), () => true)
      await accessSettings.setJwksUrl('https://id.example.org/keys', anEvent({ event: 'access_changed' }))
    }
    const claim = await claimOf(claims, id)
    await releases.add(claim, aRelease(1))
    await environment.set(claim, variable, anEvent({ event: 'env_set' }))
    changes.splice(0)

    expect(await spaces.remove(claim, { until, audit: anEvent({ event: 'space_removed' }) })).toBe(true)
    expect(await own.apiTokens.findByHash([token.tokenHash])).toBeNull()
    expect(await own.accessSettings.read()).toMatchObject({ jwksUrl: null, networks: [] })
    expect([await spaces.find(id), await releases.list(id), await environment.read(id)]).toEqual([null, [], null])
    // The rows of one kind are written together, in no order.
    expect(changes.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()).toEqual([
      `api_token ${id}/${token.id}`,
      `setting ${id}/allow_list`,
      `setting ${id}/jwks`,
    ])
    expect(changes[0]?.until).toBe(until)
    expect(await kept.apiTokens.findByHash([stays.tokenHash])).toEqual(stays)
    expect(await kept.accessSettings.read()).toMatchObject({ networks: ['192.0.2.0/24'] })
  })

  test('the name of a removed space is free again, and its id is kept until its files are gone', async () => {
    const { nouns } = await open()
    const { spaces, claims } = nouns
    const id = await aSpace(nouns)
    await spaces.remove(await claimOf(claims, id), { until, audit: anEvent({ event: 'space_removed' }) })
    expect(await aSpace(nouns)).not.toBe(id)
    expect(await spaces.removed()).toEqual([id])
    await spaces.forget(id)
    expect(await spaces.removed()).toEqual([])
  })
}
