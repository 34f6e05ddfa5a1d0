import type { RandomSource } from '../lib/random.js'
import { sleep, type World } from '../lib/runtime.js'
import type { Settings } from '../settings.js'
import type { Counters } from '../store/counters.js'
import { openRedis } from '../store/redis/open.js'
import { openNotifyWake } from '../store/sql/notify.js'
import { parseServerUrl } from '../store/sql/server-address.js'
import type { Store } from '../store/store.js'
import type { Wake } from '../store/wake.js'

/** What processes on one store share besides its rows. */
export interface BetweenProcesses {
  counters: Counters
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
    const { counters, wake, ping, close } = await openRedis({ ...common, url: redis, sleep })
    // What was counted in the store before Redis came is still swept from there.
    return { counters: { ...counters, prune: store.counters.prune }, wake, pingRedis: ping, close }
  }
  const address = database.kind === 'postgres' ? parseServerUrl('postgres', database.url) : null
  // A pooler that hands connections about listens for nobody.
  const wake = address && !address.pooled ? await openNotifyWake({ ...common, address }) : nobodyToWake
  return { counters: store.counters, wake, pingRedis: null, close: wake.close }
}

const nobodyToWake: Wake = { tell() {}, listen() {}, async close() {} }
