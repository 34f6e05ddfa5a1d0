import { describe, expect, test } from 'vitest'
import { createOAuthPeer } from '../../src/testing.js'
import { ada } from '../support/auth.js'
import { ipOf, leap, times } from '../support/limits.js'
import { adaAtGoogle, comeBack, enterAs, goTo, landedAt, oauthWorld, tokenRequests } from '../support/oauth.js'

const strangers = 'https://app.example.test/auth/oauthcallback/google?state=planted&code=planted'

async function unasked(world: Awaited<ReturnType<typeof oauthWorld>>) {
  const { items } = await world.auth.audit.list({ event: 'login', limit: 200 })
  return items.filter(({ detail }) => detail.reason === 'oauth_state')
}

describe('callbacks that the browser did not ask for', () => {
  test('ATK-295 300 in a minute are limited as sign-ins and leave one audit event', async () => {
    const world = await oauthWorld({ limits: {} }, createOAuthPeer())
    const victim = world.client({ ip: ipOf(1) })
    const statuses: number[] = []
    for (let time = 0; time < 300; time += 1) statuses.push((await comeBack(victim, strangers)).status)
    expect(statuses).toEqual([...times(30, 302), ...times(270, 429)])
    expect(await unasked(world)).toMatchObject([
      {
        outcome: 'failure',
        ip: ipOf(1),
        userId: null,
        detail: { method: 'oauth:google', reason: 'oauth_state', covers: '1h' },
      },
    ])
  })

  test('ATK-295 each address has one event an hour, and an IPv6 /64 is one address', async () => {
    const world = await oauthWorld({ limits: {} }, createOAuthPeer())
    const visit = (ip: string) => comeBack(world.client({ ip }), strangers)
    for (const ip of [ipOf(1), ipOf(2), '2001:db8::1', '2001:db8::2', ipOf(1)]) await visit(ip)
    expect((await unasked(world)).map(({ ip }) => ip).toSorted()).toEqual([ipOf(1), ipOf(2), '2001:db8::1'])
    await leap(world, 3599)
    await visit(ipOf(1))
    expect(await unasked(world)).toHaveLength(3)
    await leap(world, 1)
    await visit(ipOf(1))
    expect(await unasked(world)).toHaveLength(4)
  })

  test('ATK-295 they cost a user of the same address no sign-in but those of the limit', async () => {
    const world = await oauthWorld({ limits: {} }, createOAuthPeer())
    const [visitor, user] = [world.client({ ip: ipOf(1) }), world.client({ ip: ipOf(1) })]
    for (let time = 0; time < 20; time += 1) await comeBack(visitor, strangers)
    expect(landedAt(await enterAs(world, user, adaAtGoogle))).toBe('/')
  })
})

describe('requests that a page of another site makes its visitors send', () => {
  const image = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
  const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const path = '/auth/oauthcallback/google?state=planted&code=planted'

  test.each([
    ['images', image],
    ['frames', { ...navigation, 'sec-fetch-dest': 'iframe' }],
    ['calls of a script', { ...image, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['prefetches', { ...navigation, 'sec-purpose': 'prefetch;prerender' }],
  ])('ATK-295 callbacks as %s use up no sign-in of the address and write nothing', async (_name, headers) => {
    const world = await oauthWorld({ limits: {} }, createOAuthPeer())
    const [visitor, user] = [world.client({ ip: ipOf(1) }), world.client({ ip: ipOf(1) })]
    await world.client({ ip: ipOf(2) }).signUp(ada)
    for (let time = 0; time < 31; time += 1) {
      const { status, headers: answered } = await visitor.get(path, { headers })
      expect({ status, limit: answered.get('ratelimit') }).toEqual({ status: 403, limit: null })
    }
    expect(await unasked(world)).toEqual([])
    expect((await user.post('/auth/login', ada)).status).toBe(200)
  })

  test('ATK-295 an image does not take part in the sign-in of a browser that is at a provider', async () => {
    const world = await oauthWorld({ limits: {} }, createOAuthPeer())
    const browser = world.client({ ip: ipOf(1) })
    world.peer.signInAs(adaAtGoogle)
    const callback = world.peer.answer(await goTo(browser))
    expect((await browser.get(path, { headers: image })).status).toBe(403)
    expect(landedAt(await comeBack(browser, callback))).toBe('/')
  })

  test.each([
    ['form', 'application/x-www-form-urlencoded', 'email=a%40example.test&password=x'],
    ['text', 'text/plain', '{}'],
  ])(
    'ATK-295 sign-ins posted as a %s are refused by their origin and use up no sign-in of the address',
    async (...given) => {
      const [, type, body] = given
      const world = await oauthWorld({ limits: {} }, createOAuthPeer())
      await world.client({ ip: ipOf(2) }).signUp(ada)
      const post = () =>
        world.auth.fetch(
          new Request('https://app.example.test/auth/login', {
            method: 'POST',
            headers: { ...navigation, origin: 'https://evil.example', 'content-type': type },
            body,
          }),
          { ip: ipOf(1) },
        )
      for (let time = 0; time < 31; time += 1) {
        const answer = await post()
        expect(answer.status).toBe(403)
        expect(answer.headers.get('ratelimit-policy')).toBe('"other";q=300;w=60')
      }
      expect((await world.client({ ip: ipOf(1) }).post('/auth/login', ada)).status).toBe(200)
    },
  )
})

describe('an answer that names a parameter twice', () => {
  test.each(['state', 'code', 'error', 'iss'])('ATK-084 %s: is refused before its state is looked up', async (name) => {
    const world = await oauthWorld()
    const browser = world.client()
    world.peer.signInAs(adaAtGoogle)
    const callback = world.peer.answer(await goTo(browser))
    const value = new URL(callback).searchParams.get(name) ?? 'https://accounts.google.com'
    const doubled = [name, name].map((each) => `${each}=${encodeURIComponent(value)}`).join('&')
    const others = [...new URL(callback).searchParams].filter(([each]) => each !== name)
    const spoilt = `${callback.split('?')[0]}?${new URLSearchParams(others)}&${doubled}`
    expect(landedAt(await comeBack(browser, spoilt))).toBe('/auth/login?error=oauth_failed&provider=google')
    expect(tokenRequests(world)).toBe(0)
    expect((await world.auth.audit.list({ event: 'login' })).items).toEqual([])
    // The state is still there for the answer of the provider.
    expect(landedAt(await comeBack(browser, callback))).toBe('/')
  })

  test('ATK-084 parameters that we do not read may come twice', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    world.peer.signInAs(adaAtGoogle)
    const callback = world.peer.answer(await goTo(browser))
    expect(landedAt(await comeBack(browser, `${callback}&scope=a&scope=b`))).toBe('/')
  })
})
