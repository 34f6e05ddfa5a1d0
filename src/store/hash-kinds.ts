import type { HashKind } from '../model/imported-account.js'
import { readInstallation } from './access-settings.js'
import { installation, onlyRow } from './tables.js'
import type { Steps } from './unit.js'

/** The slowest kind of password hash in the store. A process knows its minimum delay before it has met a hash of each kind. */
export interface HashKinds {
  /** The slowest kind that was ever noted. */
  slowest(): Promise<HashKind | null>

  /** Notes a kind if it is slower than the noted one. Of concurrent calls the slowest kind stays. */
  note(kind: HashKind): Promise<void>
}

export function createHashKinds(steps: Steps): HashKinds {
  return {
    async slowest() {
      const { hash_name, hash_ms } = await steps.glance(readInstallation)
      return hash_name === null ? null : { name: hash_name, milliseconds: hash_ms }
    },

    async note({ name, milliseconds }) {
      const hash_ms = Math.round(milliseconds)
      await steps.write(installation, {
        query: { ...onlyRow, hash_ms: { lt: hash_ms } },
        set: { hash_name: name, hash_ms },
      })
    },
  }
}
