import { expect, test } from 'vitest'
import { ada } from '../support/auth.js'
import { guess, limitedAuth, networkOf, times } from '../support/limits.js'

test('ATK-296 of 120 wrong passwords at once from four networks, the known browser of the owner is served', async () => {
  const { client } = await limitedAuth({ password: { cost: 8 } })
  const owner = client({ ip: networkOf(100) })
  await owner.signUp(ada)
  await owner.signOut()

  const crowd = Array.from({ length: 120 }, (_, nth) =>
    guess(client({ ip: networkOf(nth % 4) }), `nobody${nth}@example.test`),
  )
  // Another browser of the owner comes from a network of its own.
  const served = await Promise.all([
    owner.post('/auth/login', ada),
    client({ ip: networkOf(101) }).post('/auth/login', ada),
  ])
  expect(served.map(({ status }) => status)).toEqual(times(2, 200))
  const statuses = (await Promise.all(crowd)).map(({ status }) => status)
  expect(statuses).toContain(503)
  expect(statuses.every((status) => status === 401 || status === 503)).toBe(true)
})

test('ATK-296 known browsers of the accounts of an attacker do not keep the known browser of the owner out', async () => {
  const { client } = await limitedAuth({ password: { cost: 8 } })
  const owner = client({ ip: networkOf(100) })
  await owner.signUp(ada)
  await owner.signOut()
  const attackers = await Promise.all(
    Array.from({ length: 6 }, async (_, nth) => {
      const account = { ...ada, email: `attacker${nth}@example.test` }
      const browser = client({ ip: networkOf(nth) })
      await browser.signUp(account)
      await browser.signOut()
      return { browser, email: account.email }
    }),
  )
  const crowd = attackers.flatMap(({ browser, email }) => Array.from({ length: 9 }, () => guess(browser, email)))
  expect((await owner.post('/auth/login', ada)).status).toBe(200)
  const statuses = (await Promise.all(crowd)).map(({ status }) => status)
  expect(statuses.every((status) => [401, 429, 503].includes(status))).toBe(true)
})

test('ATK-296 a signed-in user changes the password while strangers fill the queue', async () => {
  const { client } = await limitedAuth({ password: { cost: 8 } })
  const owner = client({ ip: networkOf(100) })
  await owner.signUp(ada)
  const strangers = (round: number) =>
    Array.from({ length: 120 }, (_, nth) =>
      guess(client({ ip: networkOf(20 * round + (nth % 8)) }), `stranger${round}-${nth}@example.test`),
    )
  const crowds = [0, 1, 2].flatMap(strangers)
  const changed = owner.post('/auth/password/change', {
    currentPassword: ada.password,
    newPassword: 'a longer new password 7',
  })
  expect((await changed).status).toBe(200)
  await Promise.all(crowds)
})
