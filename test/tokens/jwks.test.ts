import { expect, onTestFinished, test } from 'vitest'
import { createWorld } from '../../src/lib/runtime.js'
import { createTestClock, createTestRuntime } from '../../src/testing.js'
import { createForeignTokens } from '../../src/tokens/jwks.js'
import { issuerKey, keyServer } from '../support/key-server.js'

const minute = 60_000

test('another issuer’s tokens are checked by the time of all processes, not by a wall clock that is wrong', async () => {
  const now = Date.UTC(2026, 0, 1)
  const issuer = issuerKey('one')
  const keys = await keyServer()
  onTestFinished(() => keys.stop())
  keys.publish({ keys: [issuer.jwk] })
  const claims = { iss: 'https://issuer.test', sub: 'user-1', exp: now / 1000 + 600 }
  for (const wrongMs of [0, 60 * minute, -60 * minute]) {
    const clock = createTestClock(now + wrongMs)
    const world = createWorld(createTestRuntime({ clock, fetch: (input, init) => fetch(input, init) }))
    const reach = { allowPrivate: true, allowLoopback: true }
    const tokens = createForeignTokens(
      { url: keys.url, reach, issuer: 'https://issuer.test', audience: [], algorithms: ['RS256'] },
      { world, clock: { nowMs: () => now }, logger: { warn: () => {}, error: () => {} } },
    )
    onTestFinished(tokens.close)
    const check = async (token: string) => {
      const found = await tokens.check(token, `Bearer ${token}`)
      return 'fault' in found ? found.fault : 'good'
    }
    expect(await check(issuer.token(claims))).toBe('good')
    expect(await check(issuer.token({ ...claims, nbf: now / 1000 + 1800 }))).toBe('not_yet_valid')
    expect(await check(issuer.token({ ...claims, exp: now / 1000 - 1800 }))).toBe('expired')
  }
})
