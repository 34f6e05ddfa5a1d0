import { coarseNetwork } from '../../lib/ip-address.js'
import type { AdminTokens, AdminTokenUse } from '../store/admin-tokens.js'

/** How long uses are collected before a write, and the pause after a failed write. */
const batchMs = 10_000
const daySeconds = 86_400

export interface LastUses {
  /** Cheap and synchronous. `at`: Unix seconds; `ip`: null when it is not known. */
  note(tokenId: string, at: number, ip: string | null): void
  /** Writes the rest, unless the store fails. */
  close(): Promise<void>
}

/**
 * Collects on which day and from which network each admin token was last used, and writes it in batches. A crash loses at
 * most one batch; no decision depends on it.
 */
export function createLastUses(
  tokens: Pick<AdminTokens, 'touch'>,
  timer: (milliseconds: number, callback: () => void) => () => void,
): LastUses {
  /** What was noted last, so that a day of use from one network is one write. */
  const noted = new Map<string, AdminTokenUse>()
  const pending = new Map<string, AdminTokenUse>()
  let stopTimer: (() => void) | null = null
  let underWay: Promise<void> = Promise.resolve()
  let closed = false

  async function write(): Promise<void> {
    const batch = [...pending]
    await tokens.touch(batch.map(([id, use]) => ({ id, ...use })))
    // A later use, noted during the write, stays pending.
    for (const [id, use] of batch) if (pending.get(id) === use) pending.delete(id)
  }

  async function tick(): Promise<void> {
    // A failed batch stays pending and is written with the next one.
    await write().catch(() => {})
    stopTimer = null
    if (pending.size > 0) arm()
  }

  function arm(): void {
    if (stopTimer !== null || closed) return
    stopTimer = timer(batchMs, () => {
      underWay = tick()
    })
  }

  return {
    note(tokenId, at, ip) {
      const use: AdminTokenUse = { day: at - (at % daySeconds), network: coarseNetwork(ip) }
      const former = noted.get(tokenId)
      if (former?.day === use.day && former.network === use.network) return
      noted.set(tokenId, use)
      pending.set(tokenId, use)
      arm()
    },
    async close() {
      closed = true
      stopTimer?.()
      await underWay
      await write().catch(() => {})
    },
  }
}
