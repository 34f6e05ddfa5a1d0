import { expect, test } from 'vitest'
import type { ApiTokenRecord } from '../../../src/model/api-token.js'
import type { ScopedParts } from '../../../src/store/store.js'
import { randomId, type TestStore } from '../../support/databases.js'
import { keptApiToken, replacement } from './api-tokens.js'
import { anEvent, atOnce, now, stepOf, until } from './rows.js'

const any = () => true
const removal = stepOf('api_token_removed')
const rotation = stepOf('api_token_rotated')

/** The application and two spaces, each with the scope by which `store.at` gives it. */
function parts({ store }: TestStore): { scope: string; own: ScopedParts }[] {
  return ['', randomId(), randomId()].map((scope) => ({ scope, own: store.at(scope) }))
}

/** What a change row of that scope names. */
function subject(scope: string, id: string): string {
  return scope === '' ? id : `${scope}/${id}`
}

export function scopesContract(current: () => TestStore): void {
  tokensContract(current)
  settingsContract(current)

  test('a scope is empty or the id of a space; any other text is refused', () => {
    const { store } = current()
    const id = randomId()
    for (const scope of [' ', 'dev', `${id} `, `${id}a`, id.slice(1), `/${id.slice(1)}`, `${id.slice(1)}\n`]) {
      expect(() => store.at(scope)).toThrow(RangeError)
    }
  })
}

function tokensContract(current: () => TestStore): void {
  test('a token is found and listed in its own scope only, by every process', async () => {
    const opened = current()
    const second = (await opened.openSecond?.()) ?? opened.store
    const scopes = parts(opened)
    const tokens: ApiTokenRecord[] = []
    for (const { own } of scopes) tokens.push(await keptApiToken(own))
    for (const [index, { scope, own }] of scopes.entries()) {
      const found = await Promise.all(tokens.map(({ tokenHash }) => second.at(scope).apiTokens.findByHash([tokenHash])))
      expect(found).toEqual(tokens.map((token, other) => (other === index ? token : null)))
      expect(await own.apiTokens.findByHash(tokens.map(({ tokenHash }) => tokenHash))).toEqual(tokens[index])
      expect(await own.apiTokens.list({ after: null, limit: 10 })).toEqual([tokens[index]])
    }
    expect(await opened.store.apiTokens.list({ after: null, limit: 10 })).toEqual([tokens[0]])
  })

  test('ATK-124 the id of a token in another scope is an unknown one for each verb', async () => {
    const opened = current()
    const scopes = parts(opened)
    for (const { own } of scopes) {
      const token = await keptApiToken(own)
      for (const { own: other } of scopes.filter((each) => each.own !== own)) {
        expect(await other.apiTokens.remove(token.id, removal())).toBe(false)
        expect(await other.apiTokens.rotate(replacement(token.id), rotation())).toBeNull()
        await other.apiTokens.touch([{ id: token.id, at: now + 9 }])
        expect(await other.apiTokens.list({ after: token, limit: 10 })).not.toContainEqual(token)
      }
      expect(await own.apiTokens.findByHash([token.tokenHash])).toEqual(token)
      await own.apiTokens.remove(token.id, removal())
      expect(opened.changes.splice(0)).toHaveLength(1)
    }
  })

  test('each verb works in each scope, and its change row names scope and token', async () => {
    const opened = current()
    for (const { scope, own } of parts(opened)) {
      const token = await keptApiToken(own)
      await own.apiTokens.touch([{ id: token.id, at: now + 9 }])
      const turn = replacement(token.id, now + 60)
      const successor = await own.apiTokens.rotate(turn, rotation())
      expect(await own.apiTokens.findByHash([turn.successor.tokenHash])).toEqual(successor)
      expect(await own.apiTokens.findByHash([token.tokenHash])).toMatchObject({
        lastUsedAt: now + 9,
        replacedBy: turn.successor.id,
      })
      expect(await own.apiTokens.remove(token.id, removal())).toBe(true)
      expect(await own.apiTokens.list({ after: null, limit: 10 })).toEqual([successor])
      const told = opened.changes.splice(0)
      expect(told.map((change) => change.subject)).toEqual([subject(scope, token.id), subject(scope, token.id)])
      const { changes } = await opened.store.changes.current(until)
      expect(changes).toEqual(expect.arrayContaining(told))
    }
  })

  test('a page of one scope is as long as asked for, however many newer tokens another one has', async () => {
    const [one, other] = parts(current()).slice(1)
    if (!one || !other) throw new Error('there are two spaces')
    const tokens: ApiTokenRecord[] = []
    for (let age = 0; age < 4; age += 1) {
      tokens.push(await keptApiToken(one.own, { createdAt: now - age }))
      await keptApiToken(other.own, { createdAt: now - age })
      await keptApiToken(other.own, { createdAt: now - age })
    }
    const first = await one.own.apiTokens.list({ after: null, limit: 3 })
    const rest = await one.own.apiTokens.list({ after: first.at(-1) ?? null, limit: 3 })
    expect([first, rest]).toEqual([tokens.slice(0, 3), tokens.slice(3)])
  })

  test('the digest of a token cannot be kept a second time, in whatever scope', async () => {
    const scopes = parts(current())
    const [application, space] = scopes
    if (!application || !space) throw new Error('there are three')
    const { tokenHash } = await keptApiToken(application.own)
    await expect(keptApiToken(space.own, { tokenHash })).rejects.toMatchObject({ status: 503 })
    expect(await space.own.apiTokens.findByHash([tokenHash])).toBeNull()
  })

  test('keys of digests stay in use, and expired tokens are forgotten, in all scopes', async () => {
    const opened = current()
    for (const [index, { own }] of parts(opened).entries()) {
      await keptApiToken(own, { tokenHash: `k${index}.x`, expiresAt: now - index })
      await keptApiToken(own, { tokenHash: `k${index}.y`, expiresAt: null })
    }
    expect(await opened.store.keysInUse(now)).toEqual(['k0', 'k1', 'k2'])
    expect(await opened.store.apiTokens.prune(now + 1, 10)).toBe(3)
    expect(await opened.store.keysInUse(now)).toEqual(['k0', 'k1', 'k2'])
  })
}

function settingsContract(current: () => TestStore): void {
  test('each scope has an allow-list of its own, and one network may be on all of them', async () => {
    const opened = current()
    const second = (await opened.openSecond?.()) ?? opened.store
    const scopes = parts(opened)
    for (const [index, { scope, own }] of scopes.entries()) {
      expect(await own.accessSettings.read()).toEqual({ jwksUrl: null, networks: [] })
      expect(await own.accessSettings.addNetwork('10.0.0.0/8', anEvent(), any)).toBe('changed')
      const judged: (readonly string[])[] = []
      const judge = (networks: readonly string[]) => judged.push(networks) > 0
      expect(await own.accessSettings.addNetwork(`192.0.2.${index}`, anEvent(), judge)).toBe('changed')
      expect(judged).toEqual([['10.0.0.0/8', `192.0.2.${index}`]])
      const told = opened.changes.splice(0).map((change) => `${change.kind} ${change.subject}`)
      expect(told).toEqual(Array.from({ length: 2 }, () => `setting ${subject(scope, 'allow_list')}`))
    }

    const [, space] = scopes
    expect(await space?.own.accessSettings.removeNetwork('10.0.0.0/8', anEvent(), any)).toBe('changed')
    expect(await space?.own.accessSettings.removeNetwork('192.0.2.0', anEvent(), any)).toBe('unchanged')
    const lists = await Promise.all(scopes.map(({ scope }) => second.at(scope).accessSettings.read()))
    expect(lists.map(({ networks }) => networks)).toEqual([
      ['10.0.0.0/8', '192.0.2.0'],
      ['192.0.2.1'],
      ['10.0.0.0/8', '192.0.2.2'],
    ])
    expect((await opened.store.accessSettings.read()).networks).toEqual(lists[0]?.networks)
  })

  test('of many that add one network at once in two scopes, one does in each', async () => {
    const scopes = parts(current()).slice(1)
    const outcomes = await atOnce((index) => {
      const { own } = scopes[index % 2] ?? {}
      return own?.accessSettings.addNetwork('10.0.0.1', anEvent(), any) ?? Promise.resolve('refused')
    })
    const changed = outcomes.flatMap((outcome, index) => (outcome === 'changed' ? [index % 2] : []))
    expect(changed.toSorted()).toEqual([0, 1])
  })

  test('a space keeps rules with its key set, which change and go with it', async () => {
    const opened = current()
    const second = (await opened.openSecond?.()) ?? opened.store
    const [application, space] = parts(opened)
    if (application === undefined || space === undefined) throw new TypeError('no scopes')
    const read = async () => (await second.at(space.scope).accessSettings.read()).jwksRules
    const url = 'https://a.example.test/k'
    const rules = { issuer: 'https://i.test', audience: ['a', 'b'], algorithms: ['ES256', 'RS256'], exclusive: true }
    for (const each of [
      rules,
      { ...rules, exclusive: false },
      { ...rules, audience: [] },
      { ...rules, issuer: null },
    ]) {
      expect(await space.own.accessSettings.setJwksUrl(url, anEvent(), each)).toBe(true)
      expect(await space.own.accessSettings.setJwksUrl(url, anEvent(), each)).toBe(false)
      expect(await read()).toEqual(each)
    }
    expect(await space.own.accessSettings.setJwksUrl(url, anEvent())).toBe(true)
    expect(await read()).toBeUndefined()
    expect(await space.own.accessSettings.setJwksUrl(null, anEvent())).toBe(true)
    expect(await application.own.accessSettings.setJwksUrl(url, anEvent(), rules)).toBe(true)
    expect(await second.at('').accessSettings.read()).toEqual({ jwksUrl: url, networks: [] })
  })

  test('each scope has a key set of its own, which is set, replaced and taken away', async () => {
    const opened = current()
    const second = (await opened.openSecond?.()) ?? opened.store
    const scopes = parts(opened)
    const read = () =>
      Promise.all(scopes.map(async ({ scope }) => (await second.at(scope).accessSettings.read()).jwksUrl))
    const urls: (string | null)[] = [null, null, null]
    const long = `https://a.example.test/${'k'.repeat(2000)}`
    for (const url of ['https://a.example.test/k', 'https://a.example.test/K', long, null]) {
      for (const [index, { scope, own }] of scopes.entries()) {
        expect(await own.accessSettings.setJwksUrl(url, anEvent())).toBe(true)
        expect(await own.accessSettings.setJwksUrl(url, anEvent())).toBe(false)
        urls[index] = url
        expect(await read()).toEqual(urls)
        const told = opened.changes.splice(0).map((change) => `${change.kind} ${change.subject}`)
        expect(told).toEqual([`setting ${subject(scope, 'jwks')}`])
      }
    }
  })

  test('a change that fails in the middle has not happened', async () => {
    const opened = current()
    const { accessSettings } = opened.store.at(randomId())
    const audit = anEvent()
    await opened.store.audit.record(audit)
    await expect(accessSettings.setJwksUrl('https://a.example.test/k', audit)).rejects.toMatchObject({ status: 503 })
    await expect(accessSettings.addNetwork('10.0.0.1', audit, any)).rejects.toMatchObject({ status: 503 })
    expect(await accessSettings.read()).toEqual({ jwksUrl: null, networks: [] })
    expect(opened.changes).toEqual([])
  })
}
