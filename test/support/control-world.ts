import { onTestFinished } from 'vitest'
import { createRandom } from '../../src/lib/random.js'
import { createWorld } from '../../src/lib/runtime.js'
import type { Visitor } from '../../src/model/visitor.js'
import type { Clock, Ports } from '../../src/ports.js'
import { openSqlStore } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { createTestClock, createTestRuntime, testSettings } from '../../src/testing.js'
import { policyOf } from '../../src/wiring/policy.js'
import { readSettings } from '../../src/wiring/settings.js'
import { now } from '../contracts/store/rows.js'
import { storeOptions } from './databases.js'
import { watchedDatabase } from './watched-database.js'

/** What the flows of the control API need, over a store in memory. The clock starts at `now` of the contract's rows. */
export interface ControlWorld {
  store: Store
  /** The database below the store, to meddle with. */
  database: ReturnType<typeof watchedDatabase>['database']
  ports: Store & Pick<Ports, 'clock' | 'random' | 'policy'>
  clock: ReturnType<typeof createTestClock>
}

/** An administrator's request. */
export const admin: Visitor = {
  ip: '192.0.2.9',
  userAgent: 'Browser/1.0',
  actor: { kind: 'user', userId: 'admin', sessionId: 'admin-session', impersonating: null },
}

/** @param adminEmails canonical, as in the setting `admin.emails` */
export async function controlWorld(adminEmails: readonly string[] = []): Promise<ControlWorld> {
  const { database, dialect } = watchedDatabase({})
  const store = await openSqlStore({ ...storeOptions(), database: { kind: 'dialect', dialect } })
  onTestFinished(() => store.close())
  const clock = createTestClock(now * 1_000)
  const settings = readSettings(testSettings(), createWorld(createTestRuntime()))
  const policy = { ...policyOf(settings), adminEmails }
  const reading: Clock = {
    now: () => Math.floor(clock.now() / 1_000),
    nowMs: () => clock.now(),
    monotonicMs: () => clock.now(),
  }
  return { store, database, clock, ports: { ...store, clock: reading, random: createRandom(), policy } }
}
