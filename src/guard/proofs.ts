import { createRecent } from '../lib/recent.js'
import type { Clock, Proofs } from '../ports.js'
import type { Proof, Sessions } from '../store/sessions.js'

/** How long first sights are gathered before they are written. */
const gatheringMs = 1_000
/** A store that fails is asked again after twice as long each time, up to this. */
const longestWaitMs = 30_000
/** How many one statement run writes; more wait for the next, which then comes sooner. */
const batchSize = 200
const nextBatchMs = 50
/**
 * How many sights wait at most, and how many written ones are remembered, so that a token that left the cache is not written
 * again; it waits until the next batch is put together. A sight more is left out: that delays a rotation until the token is
 * seen anew.
 */
const rememberedSessions = 50_000

interface Sight {
  counter: number
  seenAtMs: number
}

/** By the session's id, in the order of arrival. */
type Sights = Map<string, Sight>

export interface ProofsOptions {
  sessions: Pick<Sessions, 'prove'>
  clock: Pick<Clock, 'monotonicMs'>
  timer: (milliseconds: number, callback: () => void) => () => void
}

/**
 * Gathers which rotation of which session a verifier has seen. The newest counter of a session is kept with its first
 * sight until the store confirms it; a process that dies loses at most one batch, which delays a rotation and nothing else.
 *
 * The sights stand in many small maps: to find a place in a map of thousands, and to make it larger, took a fourth of
 * what the first sight of a token costs.
 */
export class ProofBatches implements Proofs {
  readonly #options: ProofsOptions
  /** Of a batch's size each, the oldest first. */
  #full: Sights[] = []
  #open: Sights = new Map()
  readonly #written = createRecent<number>(rememberedSessions)
  #stopTimer: (() => void) | null = null
  #waitMs = gatheringMs
  #closed = false

  constructor(options: ProofsOptions) {
    this.#options = options
  }

  note(sessionId: string, counter: number, seenAtMs: number): void {
    if (!isNews(this.#open, sessionId, counter) || !this.#makeRoom()) return
    this.#open.set(sessionId, { counter, seenAtMs })
    this.#arm()
  }

  async settle(sessionId: string): Promise<void> {
    const mine: Sights = new Map()
    for (const sights of this.#gathered()) {
      const sight = sights.get(sessionId)
      if (sight && this.#isDue(mine, sessionId, sight)) mine.set(sessionId, sight)
    }
    await this.#write(mine)
  }

  /** Writes what is left, as far as the store takes it. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimer?.()
    try {
      for (let batch = this.#nextBatch(); batch.size > 0; batch = this.#nextBatch()) await this.#write(batch)
    } catch {
      // The store is gone: what is lost delays rotations, no more.
    }
  }

  #makeRoom(): boolean {
    if (this.#open.size < batchSize) return true
    if ((this.#full.length + 1) * batchSize >= rememberedSessions) return false
    this.#full.push(this.#open)
    this.#open = new Map()
    return true
  }

  #arm(): void {
    if (this.#stopTimer !== null || this.#closed) return
    this.#stopTimer = this.#options.timer(this.#waitMs, () => void this.#tick())
  }

  async #tick(): Promise<void> {
    const batch = this.#nextBatch()
    try {
      await this.#write(batch)
      this.#waitMs = batch.size === batchSize ? nextBatchMs : gatheringMs
    } catch {
      this.#waitMs = Math.min(2 * Math.max(this.#waitMs, gatheringMs), longestWaitMs)
    }
    this.#stopTimer = null
    if (this.#gathered().some(({ size }) => size > 0)) this.#arm()
  }

  #gathered(): Sights[] {
    return [...this.#full, this.#open]
  }

  /** Whether it is news to that batch, and to the store. */
  #isDue(batch: Sights, sessionId: string, { counter }: Sight): boolean {
    return isNews(batch, sessionId, counter) && (this.#written.get(sessionId) ?? -1) < counter
  }

  /** The oldest that are due. Lets go of those that are written; the others stay until they are. */
  #nextBatch(): Sights {
    const batch: Sights = new Map()
    for (const sights of this.#gathered()) this.#takeDue(sights, batch)
    this.#full = this.#full.filter(({ size }) => size > 0)
    return batch
  }

  #takeDue(sights: Sights, batch: Sights): void {
    for (const [sessionId, sight] of sights) {
      if (batch.size === batchSize) return
      if (this.#isDue(batch, sessionId, sight)) batch.set(sessionId, sight)
      else sights.delete(sessionId)
    }
  }

  /** A larger counter that is seen while the batch is on its way is gathered anew. */
  async #write(batch: Sights): Promise<void> {
    if (batch.size === 0) return
    const now = this.#options.clock.monotonicMs()
    const proofs = Array.from(batch, ([sessionId, { counter, seenAtMs }]): Proof => {
      return { sessionId, counter, ageMs: Math.max(0, now - seenAtMs) }
    })
    await this.#options.sessions.prove(proofs)
    for (const { sessionId, counter } of proofs) this.#written.set(sessionId, counter)
  }
}

function isNews(sights: Sights, sessionId: string, counter: number): boolean {
  const known = sights.get(sessionId)
  return known === undefined || known.counter < counter
}
