import { expect, test } from 'vitest'
import { countAccounts } from '../../../src/flows/control/find-accounts.js'
import { countSessions } from '../../../src/flows/control/find-sessions.js'
import { aSession, aUser, createdUser, now, openedSession } from '../../contracts/store/rows.js'
import { controlWorld } from '../../support/control-world.js'
import { openDatastore } from '../../support/datastores.js'

test('accounts and live sessions are counted exactly', async () => {
  const { store, ports } = await controlWorld()
  const user = await createdUser(store)
  await createdUser(store)
  await openedSession(store, user, { refreshExpiresAt: now + 60, expiresAt: now + 60 })
  await openedSession(store, user, { refreshExpiresAt: now, expiresAt: now })
  expect(await countAccounts(ports)).toEqual({ count: 2, more: false })
  expect(await countSessions(ports)).toEqual({ count: 1, more: false })
})

test('a store without a count is read, up to 500', async () => {
  const { store, close } = await openDatastore()
  const user = await createdUser(store)
  await openedSession(store, user, { refreshExpiresAt: now + 60, expiresAt: now + 60 })
  const clock = { now: () => now, nowMs: () => now * 1_000, monotonicMs: () => 0 }
  expect(await countAccounts(store)).toEqual({ count: 1, more: false })
  expect(await countSessions({ ...store, clock })).toEqual({ count: 1, more: false })
  await close()

  const list = async ({ limit }: { limit: number }) => Array.from({ length: limit }, () => aUser())
  const recent = async ({ limit }: { limit: number }) =>
    Array.from({ length: limit }, () => ({ session: aSession('ada'), email: 'ada@example.test' }))
  const users = { ...store.users, list }
  const sessions = { ...store.sessions, recent }
  expect(await countAccounts({ users })).toEqual({ count: 500, more: true })
  expect(await countSessions({ sessions, clock })).toEqual({ count: 500, more: true })
})
