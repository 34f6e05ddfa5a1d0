import { expect, test } from 'vitest'
import { api, hostWorld } from '../../support/host-world.js'
import { watchedDatabase } from '../../support/watched-database.js'

const ip = '192.0.2.77'
const wrong = (n: number) => `${n.toString(16).padStart(16, '0')}-${'f'.repeat(32)}`

/**
 * A host with an administrator and a token, whose address strangers share. `reads` counts reads of admin tokens, which fail
 * during `whileBroken`.
 */
async function sharedAddress() {
  let reads = 0
  let isBroken = false
  const { dialect } = watchedDatabase({
    before(sql) {
      if (!sql.startsWith('select') || !sql.includes('latchkey_admin_tokens')) return
      reads += 1
      if (isBroken) throw new Error('disk I/O error')
    },
  })
  const world = await hostWorld({
    settings: {
      database: dialect,
      limits: { adminToken: { ip: '5/1m' }, other: { ip: '20/1m' }, refresh: { ip: '20/1m' } },
    },
  })
  const { client } = await world.signedIn('ann@example.test', 'ADMIN')
  const { body } = await client.post<{ token: string }>(`${api}/admintokens`, { owner: 'personal' })
  const stranger = world.client({ ip })
  const flood = async (count: number, path = `${api}/`, headers = {}) => {
    const statuses: number[] = []
    for (let n = 0; n < count; n += 1) statuses.push((await stranger.get(path, { headers })).status)
    return statuses
  }
  const ask = async (token: string) =>
    (
      await world.client({ ip }).get(`${api}/`, {
        headers: {
          'x-admintoken': token,
          origin: null,
          'sec-fetch-site': null,
          'sec-fetch-mode': null,
          'sec-fetch-dest': null,
        },
      })
    ).status
  const whileBroken = async <Result>(run: () => Promise<Result>) => {
    isBroken = true
    const result = await run()
    isBroken = false
    return result
  }
  return { world, client, token: body.token, stranger, flood, ask, reads: () => reads, whileBroken }
}

test('ATK-241 an anonymous flood of an address keeps no valid admin token from there out, and lets no other in', async () => {
  const { flood, ask, token } = await sharedAddress()
  expect((await flood(601)).at(-1)).toBe(429)
  const wrongEnd = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`
  for (let count = 0; count < 3; count += 1) {
    expect([await ask(token), await ask(wrong(count)), await ask(wrongEnd)]).toEqual([200, 429, 429])
  }
})

test('ATK-241 a flood of wrong admin tokens costs no read each, and a valid one of the address still works', async () => {
  const { world, flood, ask, token, reads } = await sharedAddress()
  for (let n = 0; n < 30; n += 1) await ask(wrong(n))
  expect((await flood(571)).at(-1)).toBe(429)
  const before = reads()
  for (let n = 0; n < 200; n += 1) expect(await ask(wrong(1_000 + n))).toBe(429)
  expect(reads() - before).toBeLessThanOrEqual(1)
  expect(await ask(token)).toBe(200)
  await world.runtime.clock.set(world.runtime.clock.now() + 61_000)
  expect(await ask(wrong(1))).toBe(401)
})

test('ATK-241 a read of all admin tokens that failed keeps no valid one of a flooded address out', async () => {
  const { ask, token, reads, whileBroken } = await sharedAddress()
  for (let n = 0; n < 6; n += 1) await ask(wrong(n))
  const before = reads()
  expect(await whileBroken(() => ask(token))).toBe(503)
  expect(await ask(token)).toBe(200)
  expect(reads() - before).toBe(2)
})

test('ATK-241 a removed admin token is refused in a flood as an unknown one', async () => {
  const { client, ask, flood, token } = await sharedAddress()
  for (let n = 0; n < 30; n += 1) await ask(wrong(n))
  await flood(571)
  expect(await ask(token)).toBe(200)
  expect((await client.delete(`${api}/admintokens/${token.slice(0, 16)}`)).status).toBe(204)
  expect(await ask(token)).toBe(429)
})

test('ATK-241 a flood of an address keeps no session from there out, and the headers describe the address', async () => {
  const { world, flood } = await sharedAddress()
  const bob = world.client({ ip })
  await bob.signUp({ email: 'bob@example.test', password: 'correct horse battery' })
  expect((await flood(25, '/auth/me')).at(-1)).toBe(429)
  const answer = await bob.get('/auth/me')
  expect([answer.status, answer.headers.get('ratelimit')]).toEqual([200, '"other";r=0;t=60'])
  for (let n = 0; n < 25; n += 1) await world.client({ ip }).post('/auth/refresh', {})
  expect((await world.client({ ip }).post('/auth/refresh', {})).status).toBe(429)
  expect((await bob.refresh()).status).toBe(200)
  expect((await world.client({ ip }).get('/auth/me', { headers: { cookie: 'access-token=forged' } })).status).toBe(429)
  for (let n = 0; n < 19; n += 1) await bob.get('/auth/me')
  expect((await bob.get('/auth/me')).status).toBe(429)
  expect((await world.client({ ip }).post('/auth/logout', {})).status).toBe(429)
})

test('ATK-241 all sessions of a user share one count, and there is none for mails and guesses', async () => {
  const { world, flood } = await sharedAddress()
  const bob = { email: 'bob@example.test', password: 'correct horse battery' }
  const first = world.client({ ip })
  await first.signUp(bob)
  const second = world.client({ ip })
  expect((await second.post('/auth/login', bob)).status).toBe(200)
  await flood(25, '/auth/me')
  for (let n = 0; n < 10; n += 1) {
    expect([(await first.get('/auth/me')).status, (await second.get('/auth/me')).status]).toEqual([200, 200])
  }
  expect([(await first.get('/auth/me')).status, (await second.get('/auth/me')).status]).toEqual([429, 429])
  for (let n = 0; n < 11; n += 1) await world.client({ ip }).post('/auth/password/forgot', { email: 'x@example.test' })
  const mail = await first.post('/auth/email/change', { email: 'new@example.test', password: bob.password })
  expect([mail.status, mail.headers.get('ratelimit')]).toEqual([429, '"mail";r=0;t=60'])
})
