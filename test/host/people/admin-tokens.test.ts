import { expect, test } from 'vitest'
import { api, type HostWorldOptions, hostWorld, testSpaces } from '../../support/host-world.js'

interface TokenBody {
  id: string
  token: string
}

async function withAdmin(options: HostWorldOptions = {}) {
  const world = await hostWorld(options)
  const admin = await world.signedIn('ann@example.test', 'ADMIN')
  const make = (input: object = {}, by = admin.client) =>
    by.post<TokenBody>(`${api}/admintokens`, { owner: 'personal', ...input })
  return { world, admin, make }
}

/** An administrator who is a member of an ADMIN team, with a token of that team. */
async function withTeamToken() {
  const { world, admin, make } = await withAdmin()
  const maker = await world.signedIn('bob@example.test')
  const { body: team } = await admin.client.post<{ id: string }>(`${api}/teams`, { name: 'ops', right: 'ADMIN' })
  await admin.client.post(`${api}/teams/${team.id}/members`, { email: maker.email })
  const { body: token } = await make({ owner: team.id, name: 'ci' }, maker.client)
  return { world, admin, maker, team, token }
}

test('an admin token is shown once, in full in the answer that makes it alone', async () => {
  const { world, admin, make } = await withAdmin()
  const made = await make({ name: 'ci', spaces: ['dev'], commands: ['deploy', 'query'], cidrs: ['192.0.2.0/24'] })
  expect(made.status).toBe(201)
  const { token, id } = made.body
  expect(token).toMatch(/^[0-9a-f]{16}-[0-9a-f]{32}$/)
  const list = await admin.client.get<object[]>(`${api}/admintokens`)
  const year = 365 * 86_400_000
  expect(list.body).toEqual([
    {
      id,
      start: token.slice(0, 5),
      name: 'ci',
      owner: { kind: 'personal', id: admin.id, name: admin.email },
      madeBy: { id: admin.id, email: admin.email },
      spaces: ['dev'],
      commands: ['deploy', 'query'],
      cidrs: ['192.0.2.0/24'],
      createdAt: expect.any(String),
      expiresAt: new Date(Math.floor(world.runtime.clock.now() / 1_000) * 1_000 + year).toISOString(),
      lastUse: null,
    },
  ])
  expect(await world.identify(token)).toEqual({
    tokenId: id,
    name: 'ci',
    spaces: [testSpaces.get('dev')],
    commands: ['deploy', 'query'],
  })
})

test('what an admin token is made of is checked', async () => {
  const { admin, make } = await withAdmin()
  for (const input of [
    { spaces: [] },
    { commands: [] },
    { commands: ['reboot'] },
    { cidrs: [] },
    { cidrs: ['x'] },
    { name: 'a\nb' },
    { expiresAt: '2001-01-01' },
    { expiresAt: 'soon' },
    { right: 'ADMIN' },
  ]) {
    expect([input, (await make(input)).status]).toEqual([input, 400])
  }
  expect((await make({ spaces: ['unknown', 'dev', 'x\ny', 'unknown'] })).body).toMatchObject({
    code: 'space_not_found',
    detail: 'There is no such space: unknown, x y',
  })
  const { body: team } = await admin.client.post<{ id: string }>(`${api}/teams`, { name: 'ops', right: 'ADMIN' })
  for (const owner of [team.id, 'unknown']) expect((await make({ owner })).status).toBe(404)
  expect((await make({ expiresAt: null })).body).toMatchObject({ expiresAt: null })
})

test('ATK-128 ATK-133 anything but a right token is refused alike, and guesses are limited by address', async () => {
  const { world, make } = await withAdmin({ settings: { limits: {} } })
  const { token } = (await make()).body
  const wrongSecret = `${token.slice(0, 17)}${'0'.repeat(32)}`
  const unknown = `${'0'.repeat(16)}-${'0'.repeat(32)}`
  for (const sent of ['', 'x', token.toUpperCase(), ` ${token}`, `${token} `, token.replace('-', ''), `${token}0`]) {
    expect([sent, await world.identify(sent)]).toEqual([sent, 'unauthenticated'])
  }
  const guesses = await Promise.all(
    Array.from({ length: 30 }, (_, index) => world.identify(index % 2 ? unknown : wrongSecret)),
  )
  expect(new Set(guesses)).toEqual(new Set(['unauthenticated']))
  expect(await world.identify(unknown)).toBe('rate_limited')
  expect(await world.identify(wrongSecret)).toBe('rate_limited')
  expect(await world.identify(unknown, '192.0.2.10')).toBe('unauthenticated')
  // A right token behind the same address is not held up.
  expect(await world.identify(token)).toMatchObject({ tokenId: token.slice(0, 16) })
})

test('ATK-131 a personal token works while its owner has the right ADMIN and is not disabled', async () => {
  const { world, admin, make } = await withAdmin()
  const owner = await world.signedIn('bob@example.test', 'ADMIN')
  const { token, id } = (await make({}, owner.client)).body
  expect(await world.identify(token)).toMatchObject({ tokenId: id })

  await admin.client.patch(`${api}/project/users/${owner.id}`, { right: 'MEMBER' })
  expect(await world.identify(token)).toBe('unauthenticated')
  await admin.client.patch(`${api}/project/users/${owner.id}`, { right: 'ADMIN' })
  expect(await world.identify(token)).toMatchObject({ tokenId: id })

  await admin.client.post(`${api}/users/${owner.id}/disable`, { reason: 'left' })
  expect(await world.identify(token)).toBe('unauthenticated')
  await admin.client.post(`${api}/users/${owner.id}/enable`)
  expect(await world.identify(token)).toMatchObject({ tokenId: id })

  await admin.client.delete(`${api}/users/${owner.id}`, { confirm: owner.email })
  expect(await world.identify(token)).toBe('unauthenticated')
  expect((await admin.client.get(`${api}/admintokens`)).body).toEqual([])
})

test('ATK-131 ATK-191 a team token survives its maker, whose removal names it, and goes with the right of the team', async () => {
  const { world, admin, maker, team, token } = await withTeamToken()
  expect(await world.identify(token.token)).toMatchObject({ tokenId: token.id })

  const left = await admin.client.delete(`${api}/teams/${team.id}/members/${maker.id}`)
  expect([left.status, left.body]).toMatchObject([
    200,
    { tokens: [{ id: token.id, owner: { kind: 'team', id: team.id, name: 'ops' }, madeBy: { email: maker.email } }] },
  ])
  expect(left.text).not.toContain(token.token)
  expect(await world.identify(token.token)).toMatchObject({ tokenId: token.id })

  await admin.client.delete(`${api}/users/${maker.id}`, { confirm: maker.email })
  expect(await world.identify(token.token)).toMatchObject({ tokenId: token.id })
  expect((await admin.client.get(`${api}/admintokens`)).body).toMatchObject([
    { id: token.id, madeBy: { id: maker.id, email: null } },
  ])

  await admin.client.patch(`${api}/teams/${team.id}`, { right: 'MEMBER' })
  expect(await world.identify(token.token)).toBe('unauthenticated')
  await admin.client.patch(`${api}/teams/${team.id}`, { right: 'ADMIN' })
  expect(await world.identify(token.token)).toMatchObject({ tokenId: token.id })
  await admin.client.delete(`${api}/teams/${team.id}`, { confirm: 'ops' })
  expect(await world.identify(token.token)).toBe('unauthenticated')
})

test('ATK-191 who is removed from the project leaves the names of the team tokens that they made', async () => {
  const { admin, maker, token } = await withTeamToken()
  const removed = await admin.client.delete(`${api}/project/users/${maker.id}`, { confirm: maker.email })
  expect([removed.status, removed.body]).toMatchObject([200, { tokens: [{ id: token.id, name: 'ci' }] }])
})

test('ATK-132 a removed and an expired token are refused, whoever of the administrators removed it', async () => {
  const { world, make } = await withAdmin()
  const other = await world.signedIn('bob@example.test', 'ADMIN')
  const { token, id } = (await make()).body
  expect(await world.identify(token)).toMatchObject({ tokenId: id })
  expect((await other.client.delete(`${api}/admintokens/${id}`)).status).toBe(204)
  expect(await world.identify(token)).toBe('unauthenticated')
  expect((await other.client.delete(`${api}/admintokens/${id}`)).status).toBe(404)

  const now = Math.floor(world.runtime.clock.now() / 1_000)
  const short = (await make({ expiresAt: new Date((now + 60) * 1_000).toISOString() })).body
  await world.runtime.clock.advance('59s')
  expect(await world.identify(short.token)).toMatchObject({ tokenId: short.id })
  await world.runtime.clock.advance('1s')
  expect(await world.identify(short.token)).toBe('unauthenticated')
})

test('ATK-132 all tokens go in one step with one event, and only by confirmation', async () => {
  const { world, admin, make } = await withAdmin()
  const tokens = [(await make()).body.token, (await make({ name: 'ci' })).body.token]
  for (const body of [{}, { confirm: 'yes' }]) {
    expect((await admin.client.delete(`${api}/admintokens`, body)).body).toMatchObject({ code: 'invalid_request' })
  }
  for (const token of tokens) expect(await world.identify(token)).toMatchObject({ tokenId: token.slice(0, 16) })
  const removed = await admin.client.delete(`${api}/admintokens`, { confirm: 'all' })
  expect(removed).toMatchObject({ status: 200, body: { removed: 2 } })
  for (const token of tokens) expect(await world.identify(token)).toBe('unauthenticated')
  expect((await admin.client.delete(`${api}/admintokens`, { confirm: 'all' })).body).toEqual({ removed: 0 })
  const events = await world.running.store.audit.list({ event: 'admin_token_removed', limit: 10 })
  expect(events).toEqual([expect.objectContaining({ detail: { all: true } })])
})

test('ATK-135 a token for networks is refused from elsewhere', async () => {
  const { world, make } = await withAdmin()
  const { token, id } = (await make({ cidrs: ['192.0.2.0/24', '2001:db8::/32'] })).body
  expect(await world.identify(token, '192.0.2.200')).toMatchObject({ tokenId: id })
  expect(await world.identify(token, '2001:db8::1')).toMatchObject({ tokenId: id })
  for (const ip of ['192.0.3.1', '2001:db9::1', null]) {
    expect([ip, await world.identify(token, ip)]).toEqual([ip, 'ip_not_allowed'])
  }
})

test('ATK-134 neither the store nor the audit log holds a token, and the last use is coarse', async () => {
  const { world, admin, make } = await withAdmin()
  const { token, id } = (await make({ name: 'ci' })).body
  await world.identify(token, '192.0.2.77')
  await world.identify(token, '192.0.2.78')
  await world.runtime.clock.advance('10s')
  const day = new Date(world.runtime.clock.now()).toISOString().slice(0, 10)
  const list = async () => (await admin.client.get(`${api}/admintokens`)).body
  await expect.poll(list).toMatchObject([{ id, lastUse: { day, network: '192.0.2.0/24' } }])

  const secret = token.slice(17)
  const stored = await world.running.nouns.projectTokens.find(id)
  const events = await world.running.store.audit.list({ limit: 200 })
  for (const text of [stored, events, await list()]) expect(JSON.stringify(text)).not.toContain(secret)
  expect(events).toContainEqual(
    expect.objectContaining({
      event: 'admin_token_created',
      detail: { tokenId: id, name: 'ci', owner: 'personal' },
    }),
  )
})

test('the key by which an admin token is recognised is in use while the token works', async () => {
  const { world, make } = await withAdmin()
  const { store, clock, nouns } = world.running
  await make({ expiresAt: new Date((clock.now() + 60) * 1000).toISOString() })
  const [token] = await nouns.projectTokens.list()
  const keyId = token?.tokenHash.split('.')[0]
  const later = clock.now() + 3_600 * 24 * 30
  expect(await store.keysInUse(clock.now())).toContain(keyId)
  expect(await store.keysInUse(later)).not.toContain(keyId)
})

test('housekeeping deletes an admin token 30 days after its end', async () => {
  const { world, make } = await withAdmin()
  const { clock } = world.runtime
  const ends = (seconds: number) => new Date((Math.floor(clock.now() / 1_000) + seconds) * 1_000).toISOString()
  for (const [name, expiresAt] of [
    ['an hour', ends(3_600)],
    ['a month', ends(31 * 86_400)],
    ['for good', null],
  ]) {
    await make({ name, expiresAt })
  }
  const names = async () => (await world.running.nouns.projectTokens.list()).map(({ name }) => name).sort()
  await clock.advance('30d')
  await clock.advance('10m')
  expect(await names()).toEqual(['a month', 'an hour', 'for good'])
  await clock.advance('1h')
  await clock.advance('30m')
  await expect.poll(names).toEqual(['a month', 'for good'])
})
