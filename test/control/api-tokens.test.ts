import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AuthError, type NewApiToken } from '../../src/index.js'
import { attackServer } from '../support/attack-server.js'
import { sharedSettings, testAuth } from '../support/auth.js'
import { failingDatabase } from '../support/failing-database.js'

const nightly: NewApiToken = { name: 'nightly report' }
const application = { kind: 'application' }

describe('API tokens for the application’s own code', () => {
  it('are made with what is asked for, and their text is told once', async () => {
    const { auth, runtime } = await testAuth()
    const cidrs = ['192.0.2.77/24', '2001:DB8:0::1', '192.0.2.0/24']
    const made = await auth.apiTokens.create({
      ...nightly,
      access: 'READ',
      expiresAt: '2026-02-01T00:00:00.900Z',
      cidrs,
    })
    const { token, ...entry } = made
    expect(token).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(entry).toEqual({
      id: expect.stringMatching(/^[\w-]{22}$/),
      name: 'nightly report',
      access: 'READ',
      cidrs: ['192.0.2.0/24', '2001:db8::1'],
      createdAt: '2026-01-01T00:00:00.000Z',
      expiresAt: '2026-02-01T00:00:00.000Z',
      lastUsedAt: null,
      replacedBy: null,
    })
    expect(await auth.apiTokens.list()).toEqual({ items: [entry], nextCursor: null })

    await runtime.clock.advance('1m')
    const plain = await auth.apiTokens.create(nightly)
    expect(plain).toMatchObject({ access: 'READWRITE', cidrs: [], expiresAt: null })
    const { items } = await auth.apiTokens.list()
    expect(items.map(({ id }) => id)).toEqual([plain.id, made.id])
    expect(JSON.stringify(items)).not.toContain(token)
  })

  it('are listed page after page', async () => {
    const { auth } = await testAuth()
    const made: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) made.push((await auth.apiTokens.create({ name })).id)
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await auth.apiTokens.list(cursor === '' ? { limit: 2 } : { limit: 2, cursor })
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    }
    expect(seen.toSorted()).toEqual(made.toSorted())
    const badCursors = ['x1.a', '1.a b', '.a', '1', `1234567890123.a`, `1.${'a'.repeat(65)}`].map((cursor) => ({
      cursor,
    }))
    for (const filter of [
      { limit: 0 },
      { limit: 201 },
      { cursor: '' },
      { cursor: 'x' },
      { cursor: '1.' },
      ...badCursors,
    ]) {
      const path = 'limit' in filter ? 'limit' : 'cursor'
      await expect(auth.apiTokens.list(filter)).rejects.toMatchObject({
        code: 'invalid_request',
        details: { errors: [{ path, message: expect.any(String) }] },
      })
    }
  })

  it.each<[object, string]>([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ ...nightly, access: 'WRITE' }, 'access'],
    [{ ...nightly, access: null }, 'access'],
    [{ ...nightly, access: 'read' }, 'access'],
    [{ ...nightly, acess: 'READ' }, 'acess'],
    [{ ...nightly, token: '3f0c2d1e-9a4b-4c6d-8e7f-0a1b2c3d4e5f' }, 'token'],
    [{ ...nightly, expiresAt: '2026-01-01T00:00:00.999Z' }, 'expiresAt'],
    [{ ...nightly, expiresAt: new Date(Number.NaN) }, 'expiresAt'],
    [{ ...nightly, expiresAt: 1_900_000_000 }, 'expiresAt'],
    [{ ...nightly, expiresAt: '90d' }, 'expiresAt'],
    [{ ...nightly, cidrs: [] }, 'cidrs'],
    [{ ...nightly, cidrs: '192.0.2.1' }, 'cidrs'],
    [{ ...nightly, cidrs: null }, 'cidrs'],
    [{ ...nightly, cidrs: ['192.0.2.1', '010.0.0.1', 7] }, 'cidrs.1'],
  ])('%j is told to be wrong at %s, and makes nothing', async (input, path) => {
    const { auth } = await testAuth()
    const making = Reflect.apply(auth.apiTokens.create, null, [input])
    await expect(making).rejects.toMatchObject({
      code: 'invalid_request',
      details: { errors: expect.arrayContaining([{ path, message: expect.any(String) }]) },
    })
    expect(await auth.apiTokens.list()).toMatchObject({ items: [] })
    expect(await auth.audit.list()).toMatchObject({ items: [] })
  })

  it('have names and lists of networks of a bounded length', async () => {
    const { auth } = await testAuth()
    const cidrs = Array.from({ length: 101 }, (_, index) => `192.0.2.${index}`)
    for (const [input, path] of [
      [{ name: 'x'.repeat(101) }, 'name'],
      [{ ...nightly, cidrs }, 'cidrs'],
    ] as const) {
      await expect(auth.apiTokens.create(input)).rejects.toMatchObject({ details: { errors: [{ path }] } })
    }
    const made = await auth.apiTokens.create({ name: 'x'.repeat(100), cidrs: cidrs.slice(1) })
    expect(made.cidrs).toHaveLength(100)
  })

  it('get a successor, and end with the overlap', async () => {
    const { auth, client, runtime } = await testAuth()
    const former = await auth.apiTokens.create({ ...nightly, access: 'READ', cidrs: ['127.0.0.0/8'] })
    const successor = await auth.apiTokens.rotate(former.id, { overlap: '1h' })
    expect(successor).toMatchObject({ name: nightly.name, access: 'READ', cidrs: ['127.0.0.0/8'], expiresAt: null })
    expect(successor.token).not.toBe(former.token)
    const ask = async ({ token }: { token: string }) =>
      (await client({ as: 'server', headers: { 'x-apikey': token } }).get('/api/notes')).status
    expect([await ask(former), await ask(successor)]).toEqual([200, 200])
    expect(await auth.apiTokens.list()).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ id: former.id, expiresAt: '2026-01-01T01:00:00.000Z', replacedBy: successor.id }),
      ]),
    })
    await runtime.clock.advance('1h')
    expect([await ask(former), await ask(successor)]).toEqual([401, 200])

    const last = await auth.apiTokens.rotate(successor.id, { expiresAt: '2026-01-02' })
    expect(last.expiresAt).toBe('2026-01-02T00:00:00.000Z')
    expect([await ask(successor), await ask(last)]).toEqual([401, 200])
  })

  it('have one successor at most, and none that is bad', async () => {
    const { auth } = await testAuth()
    const { id } = await auth.apiTokens.create(nightly)
    for (const overlap of ['-1s', '8d', '0', '', 60, '169h']) {
      const rotating = Reflect.apply(auth.apiTokens.rotate, null, [id, { overlap }])
      await expect(rotating).rejects.toMatchObject({
        code: 'invalid_request',
        details: { errors: [{ path: 'overlap' }] },
      })
    }
    for (const options of [{ overlapp: '1h' }, { expiresAt: '2020-01-01' }]) {
      await expect(Reflect.apply(auth.apiTokens.rotate, null, [id, options])).rejects.toMatchObject({ status: 400 })
    }
    const rotations = Array.from({ length: 5 }, () => auth.apiTokens.rotate(id, { overlap: '7d' }))
    const settled = await Promise.allSettled(rotations)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const unknown of [id, 'unknown', '']) {
      await expect(auth.apiTokens.rotate(unknown)).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('are removed once, and what happened to them is in the audit log', async () => {
    const { auth } = await testAuth()
    const { id, token } = await auth.apiTokens.create({ ...nightly, access: 'READ' })
    const successor = await auth.apiTokens.rotate(id, { overlap: '1d' })
    expect([await auth.apiTokens.remove(id), await auth.apiTokens.remove(id)]).toEqual([true, false])
    expect(await auth.apiTokens.remove('unknown')).toBe(false)

    const { items } = await auth.audit.list()
    expect(items.map(({ event, actor, detail }) => [event, actor, detail])).toEqual([
      ['api_token_removed', application, { tokenId: id }],
      ['api_token_rotated', application, { tokenId: id, replacedBy: successor.id }],
      ['api_token_created', application, { tokenId: id, name: 'nightly report', access: 'READ' }],
    ])
    for (const secret of [token, successor.token]) expect(JSON.stringify(items)).not.toContain(secret)
    expect(await auth.audit.verify()).toEqual({ ok: true, brokenAt: null })
  })

  it('that end are told of until no process can remember them, also one whose clock is two minutes behind', async () => {
    const server = await attackServer({ file: true })
    onTestFinished(() => server.close())
    const { id } = await server.auth.apiTokens.create(nightly)
    await server.auth.apiTokens.remove(id)
    const [change] = server.sql<{ matters_until: number }>('select matters_until from latchkey_changes')
    expect(change?.matters_until).toBe(Math.floor(server.runtime.clock.now() / 1000) + 60 + 120)
  })

  it.each(['create', 'rotate', 'remove'] as const)(
    'change whole or not at all when the store fails at any step of %s',
    async (verb) => {
      const database = failingDatabase()
      const { auth, client } = await testAuth({ database: database.dialect })
      const { id, token } = await auth.apiTokens.create(nightly)
      const works = async () =>
        (await client({ as: 'server', headers: { 'x-apikey': token } }).get('/api/notes')).status === 200
      const steps = {
        create: () => auth.apiTokens.create({ name: 'second' }),
        rotate: () => auth.apiTokens.rotate(id),
        remove: () => auth.apiTokens.remove(id),
      }
      const state = async () => [await auth.apiTokens.list(), (await auth.audit.list()).items.length, await works()]
      const before = await state()
      let failures = 0
      for (; failures < 30; failures += 1) {
        database.failAfter(failures)
        const outcome = await steps[verb]().catch((error: unknown) => error)
        database.failAfter(Number.POSITIVE_INFINITY)
        if (!(outcome instanceof AuthError)) break
        expect(outcome.code).toBe('store_unavailable')
        expect([verb, failures, await state()]).toEqual([verb, failures, before])
      }
      expect(failures).toBeGreaterThan(3)
      expect(failures).toBeLessThan(30)
      expect(await works()).toBe(verb === 'create')
    },
  )

  it('need the key that they were made under, until they end', async () => {
    const keys = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
    const shared = sharedSettings()
    const before = await testAuth({ ...shared, encryptionKey: keys[0] ?? '' })
    const { id, token } = await before.auth.apiTokens.create(nightly)
    await before.auth.close()

    const both = await testAuth({ ...shared, encryptionKey: keys.toReversed() })
    const ask = async (text: string) =>
      (await both.client({ as: 'server', headers: { 'x-apikey': text } }).get('/api/notes')).status
    expect(await ask(token)).toBe(200)
    await both.auth.close()
    await expect(testAuth({ ...shared, encryptionKey: keys[1] ?? '' })).rejects.toThrow(/secret that is gone/)

    const again = await testAuth({ ...shared, encryptionKey: keys.toReversed() })
    await again.auth.apiTokens.rotate(id)
    await again.auth.close()
    const after = await testAuth({ ...shared, encryptionKey: keys[1] ?? '' })
    expect((await after.auth.apiTokens.list()).items).toHaveLength(2)
  })
})
