import { expect, test } from 'vitest'
import { readWholeAccount } from '../../../src/flows/control/read-account.js'
import { anEvent, createdUser, now, openedSession } from '../../contracts/store/rows.js'
import { controlWorld } from '../../support/control-world.js'

test('an account is read with its identities, live sessions and last 50 events', async () => {
  const { store, ports } = await controlWorld()
  const user = await createdUser(store, { identities: [{ provider: 'google', linkedAt: now }] })
  const other = await createdUser(store)
  const old = await openedSession(store, user)
  const newest = await openedSession(store, user, { createdAt: now + 1 })
  await openedSession(store, user, { refreshExpiresAt: now })
  await openedSession(store, other)
  for (let index = 0; index < 60; index += 1) await store.audit.record(anEvent({ userId: user.id, detail: { index } }))
  await store.audit.record(anEvent({ userId: other.id }))

  const whole = await readWholeAccount(ports, user.id)
  expect(whole.account).toMatchObject({ id: user.id, email: user.email, disabledAt: null })
  expect(whole.identities).toEqual([{ provider: 'google', linkedAt: '2023-11-14T22:13:20.000Z' }])
  expect(whole.sessions.map(({ id }) => id)).toEqual([newest.id, old.id])
  expect(whole.events.map(({ detail }) => detail.index)).toEqual(Array.from({ length: 50 }, (_, index) => 59 - index))
  expect(whole.events[0]).toMatchObject({ userId: user.id, at: '2023-11-14T22:13:20.000Z' })
  expect(JSON.stringify(whole)).not.toContain('$hash$')
})

test('an account that is gone has nothing left to read', async () => {
  const { ports } = await controlWorld()
  await expect(readWholeAccount(ports, 'unknown')).rejects.toMatchObject({ code: 'not_found' })
})
