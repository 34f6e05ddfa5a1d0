import { describe, expect, it } from 'vitest'
import { ada, testAuth } from '../support/auth.js'

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

describe('sessions for the application’s own code', () => {
  it('are told as their user sees them, the newest first, and nothing else of them', async () => {
    const { auth, client, runtime } = await testAuth()
    const browser = client({ ip: '192.0.2.7', headers: { 'user-agent': firefox } })
    const { body } = await browser.signUp(ada)
    await runtime.clock.advance('1h')
    await client().signIn(ada)

    const { items, nextCursor } = await auth.sessions.list(body.user.id)
    expect(nextCursor).toBeNull()
    expect(items).toHaveLength(2)
    expect(items[1]).toEqual({
      id: body.session.id,
      userId: body.user.id,
      actor: null,
      device: 'Firefox on Linux',
      ip: '192.0.2.7',
      createdAt: '2026-01-01T00:00:00.000Z',
      lastSeenAt: '2026-01-01T00:00:00.000Z',
      expiresAt: body.session.expiresAt,
    })
    expect(await auth.sessions.list('unknown')).toEqual({ items: [], nextCursor: null })
  })

  it('end one by one or all at once, in force at once', async () => {
    const { auth, client } = await testAuth()
    const [first, second, third] = [client(), client(), client()]
    const { body } = await first.signUp(ada)
    for (const browser of [second, third]) await browser.signIn(ada)

    expect(await auth.sessions.revoke(body.session.id)).toBe(true)
    expect(await auth.sessions.revoke(body.session.id)).toBe(false)
    expect((await first.get('/api/notes')).status).toBe(401)
    expect((await second.get('/api/notes')).status).toBe(200)
    expect(await auth.sessions.revokeAll(body.user.id)).toBe(2)
    expect(await auth.sessions.revokeAll(body.user.id)).toBe(0)
    expect((await second.get('/api/notes')).status).toBe(401)
    expect(await auth.sessions.list(body.user.id)).toMatchObject({ items: [] })
  })
})
