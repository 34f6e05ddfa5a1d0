import { keyIds } from './tables.js'
import type { Steps } from './unit.js'

/** A key that has signed access tokens. */
export interface UsedKey {
  /** The `kid` of the tokens. It names the key and reveals nothing about the secret. */
  kid: string
  /** Unix seconds. */
  firstUsedAt: number
}

/** The keys of the access secrets that ever signed, so that settings with foreign secrets and old keys can be recognised. */
export interface KeyIds {
  /** Notes a key that signs now (Unix seconds). Of many calls for a key, the first one stays. */
  note(kid: string, now: number): Promise<void>

  /** Every key, the one that was used first first. */
  list(): Promise<UsedKey[]>
}

export function createKeyIds(steps: Steps): KeyIds {
  return {
    note: (kid, now) =>
      steps.transaction(async (unit) => {
        // No row stands for a key that is not noted yet.
        await unit.alone('latchkey:key_ids')
        const noted = await unit.find(keyIds, { kid })
        if (noted.length === 0) await unit.put(keyIds, { kid, first_used_at: now })
      }),

    list: () =>
      steps.glance(async (view) => {
        const rows = await view.find(keyIds, {}, { sort: { first_used_at: 1 } })
        return rows.map((row) => ({ kid: row.kid, firstUsedAt: row.first_used_at }))
      }),
  }
}
