import type { ApiTokens } from '../store/api-tokens.js'

/** How long uses are collected before a write, and the pause after a failed write. */
const batchMs = 10_000
/** The most uses per write; the rest waits for the next one. */
const batchSize = 200

export interface LastUsesOptions {
  apiTokens: Pick<ApiTokens, 'touch'>
  timer: (milliseconds: number, callback: () => void) => () => void
}

/**
 * Collects when API tokens were last used and writes it in batches. A crash loses at most one batch; no decision depends on
 * these times.
 */
export class LastUses {
  readonly #options: LastUsesOptions
  /** Token id → Unix seconds, at most one entry per living token. */
  readonly #pending = new Map<string, number>()
  #stopTimer: (() => void) | null = null
  /** Never rejects. */
  #underWay: Promise<void> | null = null
  #closed = false

  constructor(options: LastUsesOptions) {
    this.#options = options
  }

  /** Cheap and synchronous: requests call it, at most once a second per token. `at`: Unix seconds. */
  note(tokenId: string, at: number): void {
    this.#pending.set(tokenId, at)
    this.#arm()
  }

  /** Writes the rest, unless the store fails. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimer?.()
    await this.#underWay
    try {
      while (this.#pending.size > 0) await this.#write()
    } catch {
      // The store is unavailable. Only a time in a list is lost.
    }
  }

  #arm(): void {
    if (this.#stopTimer !== null || this.#closed) return
    this.#stopTimer = this.#options.timer(batchMs, () => {
      this.#underWay = this.#tick()
    })
  }

  async #tick(): Promise<void> {
    // A failed batch stays pending and is retried with the next one.
    await this.#write().catch(() => {})
    // Only now: one batch is written at a time.
    this.#stopTimer = null
    if (this.#pending.size > 0) this.#arm()
  }

  async #write(): Promise<void> {
    const batch = [...this.#pending].slice(0, batchSize)
    await this.#options.apiTokens.touch(batch.map(([id, at]) => ({ id, at })))
    // A later use, recorded during the write, stays pending.
    for (const [id, at] of batch) if (this.#pending.get(id) === at) this.#pending.delete(id)
  }
}
