import type { ApiTokens } from '../store/api-tokens.js'

/** How long uses are gathered before they are written, and how long a store that fails is left alone. */
const batchMs = 10_000
/** How many one statement run writes; more wait for the next. */
const batchSize = 200

export interface LastUsesOptions {
  apiTokens: Pick<ApiTokens, 'touch'>
  timer: (milliseconds: number, callback: () => void) => () => void
}

/**
 * Gathers when API tokens were last used. A process that dies loses at most one batch; a use that is told late, or not at
 * all, decides nothing.
 */
export class LastUses {
  readonly #options: LastUsesOptions
  /** Token id → Unix seconds. No more of them than tokens that live. */
  readonly #pending = new Map<string, number>()
  #stopTimer: (() => void) | null = null
  /** Never rejects. */
  #underWay: Promise<void> | null = null
  #closed = false

  constructor(options: LastUsesOptions) {
    this.#options = options
  }

  /** Cheap and synchronous: on the path of requests with a token, once a second of each. `at`: Unix seconds. */
  note(tokenId: string, at: number): void {
    this.#pending.set(tokenId, at)
    this.#arm()
  }

  /** Writes what is left, as far as the store takes it. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimer?.()
    await this.#underWay
    try {
      while (this.#pending.size > 0) await this.#write()
    } catch {
      // The store is gone: what is lost is a time in a list.
    }
  }

  #arm(): void {
    if (this.#stopTimer !== null || this.#closed) return
    this.#stopTimer = this.#options.timer(batchMs, () => {
      this.#underWay = this.#tick()
    })
  }

  async #tick(): Promise<void> {
    // What fails stays pending, and is tried again with the next batch.
    await this.#write().catch(() => {})
    // Not before: one batch is under way at a time.
    this.#stopTimer = null
    if (this.#pending.size > 0) this.#arm()
  }

  async #write(): Promise<void> {
    const batch = [...this.#pending].slice(0, batchSize)
    await this.#options.apiTokens.touch(batch.map(([id, at]) => ({ id, at })))
    // A later use that was noted while the batch was on its way stays pending.
    for (const [id, at] of batch) if (this.#pending.get(id) === at) this.#pending.delete(id)
  }
}
