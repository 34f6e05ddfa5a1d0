import { expect, test } from 'vitest'
import type { Store } from '../../src/store/store.js'
import { createTestClock } from '../../src/testing/clock.js'
import { createHousekeeping } from '../../src/wiring/housekeeping.js'
import { anOtp, createdUser, now, openedSession } from './store/rows.js'

const expired = 600

/** Many processes on one store. `openStores` opens so many, each as a process of its own would. */
export function housekeepingContract(openStores: (count: number) => Promise<Store[]>): void {
  test("housekeeping of four processes at once drains a backlog, and none is in another's way", {
    timeout: 120_000,
  }, async () => {
    const stores = await openStores(4)
    const [store] = stores
    if (!store) throw new Error('no store')
    const user = await createdUser(store)
    const lasting = await openedSession(store, user)
    for (let nth = 0; nth < expired; nth += 1) {
      const token = anOtp(user, { subject: `browser ${nth}`, expiresAt: now - 1 - (nth % 7) })
      await store.oneTimeTokens.put(token, null, { keep: 1, now: 0 })
    }

    const clock = createTestClock(now * 1000)
    const warned: unknown[] = []
    const keepers = stores.map((each) =>
      createHousekeeping({
        endImpersonations: async () => false,
        endDeletionWaits: async () => false,
        store: each,
        clock: { now: () => Math.floor(clock.now() / 1000), nowMs: clock.now, monotonicMs: clock.monotonic },
        accessTokensLiveSeconds: 1_000,
        timer: clock.timer,
        random: () => 0.5,
        logger: { warn: (fields) => void warned.push(fields), error: () => {} },
      }),
    )
    for (const keeper of keepers) keeper.start()
    await clock.advance('10m')
    await expect
      .poll(
        async () => {
          await clock.advance(50)
          return (await store.oneTimeTokens.listByEmail('otp', user.emailCanonical, 0)).length
        },
        { timeout: 50_000, interval: 20 },
      )
      .toBe(0)
    await Promise.all(keepers.map((keeper) => keeper.close()))

    expect(await store.sessions.find(lasting.id)).not.toBeNull()
    expect(warned).toEqual([])
  })
}
