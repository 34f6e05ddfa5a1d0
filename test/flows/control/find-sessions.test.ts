import { describe, expect, test } from 'vitest'
import { findSession, findSessions } from '../../../src/flows/control/find-sessions.js'
import { anEvent, aSession, createdUser, now, openedSession, until } from '../../contracts/store/rows.js'
import { controlWorld } from '../../support/control-world.js'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

describe('the sessions of all users', () => {
  test('are shown with the address of their user and a description of the device, page after page', async () => {
    const { store, ports, clock } = await controlWorld()
    const lives = { expiresAt: now + 86_400, refreshExpiresAt: now + 3_600 }
    const ada = await createdUser(store, { email: 'Ada@Example.test' })
    const grace = await createdUser(store)
    const first = await openedSession(store, ada, { ...lives, createdAt: now, lastSeenAt: now + 5, userAgent: firefox })
    const second = await openedSession(store, grace, { ...lives, createdAt: now + 1 })
    await openedSession(store, ada, { ...lives, createdAt: now + 2, refreshExpiresAt: now + 60 })
    await clock.advance('60s')

    const page = await findSessions(ports, { limit: 1 })
    expect(page.items).toMatchObject([{ id: second.id, userId: grace.id, email: grace.email }])
    const rest = await findSessions(ports, { limit: 1, cursor: page.nextCursor ?? '' })
    expect(rest).toEqual({
      items: [
        {
          id: first.id,
          userId: ada.id,
          actor: null,
          email: 'Ada@Example.test',
          device: 'Firefox on Linux',
          ip: '192.0.2.1',
          createdAt: '2023-11-14T22:13:20.000Z',
          lastSeenAt: '2023-11-14T22:13:25.000Z',
          expiresAt: '2023-11-14T23:13:20.000Z',
        },
      ],
      nextCursor: null,
    })
    expect(await findSession(ports, first.id)).toEqual(rest.items[0])
    await store.sessions.end(first.id, null, { until, audit: anEvent() })
    expect(await findSession(ports, first.id)).toBeNull()
  })

  test('are refused as a page that cannot be', async () => {
    const { ports } = await controlWorld()
    for (const filter of [{ limit: 0 }, { limit: 201 }, { cursor: aSession('ada').id }, { cursor: '' }]) {
      await expect(findSessions(ports, filter)).rejects.toMatchObject({ code: 'invalid_request' })
    }
  })
})
