import type { RandomSource } from '../lib/random.js'
import { sleep, type World } from '../lib/runtime.js'
import type { Settings } from '../settings.js'
import type { Counters } from '../store/counters.js'
import type { NotifyOptions } from '../store/sql/engine/notify.js'
import type { Store } from '../store/store.js'
import type { Wake } from '../store/wake.js'

/** What processes on one store share besides its rows. */
export interface BetweenProcesses {
  counters: Pick<Counters, 'hit' | 'hitTogether' | 'forget'>
  wake: Wake
  /** Resolves when Redis answers; null without Redis. */
  pingRedis: (() => Promise<unknown>) | null
  close(): Promise<void>
}

interface Options {
  settings: Pick<Settings, 'redis' | 'database' | 'logger'>
  world: Pick<World, 'timer'>
  random: RandomSource
}

/**
 * With `redis`, Redis holds the counters and wakes the readers of the change feed. Without it the store counts, and a
 * PostgreSQL URL wakes by NOTIFY. Elsewhere (MySQL, SQLite, a dialect or Datastore of the application) the feed is only polled.
 *
 * @throws {Error} when Redis cannot be used; names its host and nothing secret
 */
export async function openBetweenProcesses(options: Options, store: Store): Promise<BetweenProcesses> {
  const { settings, world, random } = options
  const { installationId } = store
  const { redis, database, logger } = settings
  const common = { installationId, self: random.id(), random: random.jitter, timer: world.timer, logger }
  if (redis !== null) {
    const { openRedis } = await import('../store/redis/open.js')
    const { counters, wake, ping, close } = await openRedis({ ...common, redis, sleep })
    return { counters, wake, pingRedis: ping, close }
  }
  const wake = database.kind === 'postgres' ? await wakeByPostgres(common, database.url) : noWake
  return { counters: store.counters, wake, pingRedis: null, close: wake.close }
}

async function wakeByPostgres(options: Omit<NotifyOptions, 'address'>, url: string): Promise<Wake> {
  const [{ parseServerUrl }, { openNotifyWake }] = await Promise.all([
    import('../store/sql/engine/server-address.js'),
    import('../store/sql/engine/notify.js'),
  ])
  const address = parseServerUrl('postgres', url)
  // A pooler moves connections between clients, so LISTEN does not work through it.
  return address.pooled ? noWake : openNotifyWake({ ...options, address })
}

const noWake: Wake = { notify() {}, listen() {}, async close() {} }
