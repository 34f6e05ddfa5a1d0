import type { RandomSource } from '../lib/random.js'
import { sleep, type World } from '../lib/runtime.js'
import type { Settings } from '../settings.js'
import type { Counters } from '../store/counters.js'
import type { NotifyOptions } from '../store/sql/engine/notify.js'
import type { Store } from '../store/store.js'
import type { Wake } from '../store/wake.js'

/** What processes on one store share besides its rows. */
export interface BetweenProcesses {
  counters: Pick<Counters, 'hit' | 'forget'>
  wake: Wake
  /** Resolves when Redis answers; null where there is none. */
  pingRedis: (() => Promise<unknown>) | null
  close(): Promise<void>
}

interface Options {
  settings: Pick<Settings, 'redis' | 'database' | 'logger'>
  world: Pick<World, 'timer'>
  random: RandomSource
}

/**
 * With `redis` the counters are there, and so are the wake-ups of the change feed; without it the store counts, and
 * PostgreSQL by its URL wakes by NOTIFY. Elsewhere (MySQL, SQLite, a dialect or Datastore of the application) the feed is
 * polled alone.
 *
 * @throws {Error} when Redis cannot be used, naming its host and nothing secret
 */
export async function openBetweenProcesses(options: Options, store: Store): Promise<BetweenProcesses> {
  const { settings, world, random } = options
  const { installationId } = store
  const { redis, database, logger } = settings
  const common = { installationId, self: random.id(), random: random.jitter, timer: world.timer, logger }
  if (redis !== null) {
    const { openRedis } = await import('../store/redis/open.js')
    const { counters, wake, ping, close } = await openRedis({ ...common, url: redis, sleep })
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
  // A pooler that hands connections about listens for nobody.
  return address.pooled ? noWake : openNotifyWake({ ...options, address })
}

const noWake: Wake = { notify() {}, listen() {}, async close() {} }
