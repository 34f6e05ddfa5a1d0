import type { AccessFeed } from '../guard/access-settings.js'
import type { Revocations } from '../guard/revocations.js'
import type { Migrations } from '../model/migrations.js'
import type { Store } from '../store/store.js'

/** What the operator of the application can ask of a running Latchkey. */
export interface Operations {
  /** How many mails wait, and since when (Unix seconds). This query also shows that the store answers. */
  depth: Store['outbox']['depth']
  /** Resolves when Redis answers; null without Redis. */
  pingRedis: (() => Promise<unknown>) | null
  /** Milliseconds since the start of the last good read of the change feed. */
  feedAgeMs(): number | null
  /** Whether guarded requests can be decided, after one more read if needed; half a second for each of the two at most. */
  isDecisive(): Promise<boolean>
  migrations(): Promise<Migrations>
}

export function operationsOf(
  store: Pick<Store, 'outbox' | 'migrations'>,
  revocations: Pick<Revocations, 'ageMs' | 'isFresh' | 'catchUp'>,
  accessFeed: Pick<AccessFeed, 'isCurrent' | 'catchUp'>,
  pingRedis: Operations['pingRedis'],
): Operations {
  return {
    depth: () => store.outbox.depth(),
    pingRedis,
    feedAgeMs: () => revocations.ageMs(),
    async isDecisive() {
      const fresh = revocations.isFresh() || (await revocations.catchUp())
      return fresh && (accessFeed.isCurrent() || (await accessFeed.catchUp()))
    },
    migrations: () => store.migrations(),
  }
}
