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
/** How many maps one batch is put together from, at most: sights that are written already may fill any number of them. */
const mapsAtOnce = 25
/** How many maps wait at most, with 50,000 sights. One more is left out: that delays a rotation until the token is seen anew. */
const mostMaps = 250
/**
 * How many maps are filled before sessions that have several places are looked for again: that takes a look at all sights
 * there are, and in a flood of ever new sessions none has two. While the store fails, once with each attempt besides.
 */
const mapsBetweenLooks = 25
/** How many sessions are remembered as written, so that a token that left the cache is not written again. */
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
 * The sights wait in many small maps. One of thousands took a good part of what the first sight of a token costs: to find a
 * place in it, and to make it larger. So one session may wait in several; it is written once.
 */
export class ProofBatches implements Proofs {
  readonly #options: ProofsOptions
  /** Each of a batch's size at most, the oldest first. */
  #full: Sights[] = []
  #open: Sights = new Map()
  /** What the store is being told; `ended` never rejects. */
  #underWay: { sights: Sights; ended: Promise<void> } | null = null
  readonly #written = createRecent<number>(rememberedSessions)
  #stopTimer: (() => void) | null = null
  #waitMs = gatheringMs
  #filledSinceLook = 0
  #closed = false

  constructor(options: ProofsOptions) {
    this.#options = options
  }

  note(sessionId: string, counter: number, seenAtMs: number): void {
    if (this.#open.size >= batchSize && !this.#open.has(sessionId) && !this.#openAnother()) return
    keepNewest(this.#open, sessionId, { counter, seenAtMs })
    this.#arm()
  }

  async settle(sessionId: string): Promise<void> {
    if (this.#underWay?.sights.has(sessionId)) await this.#underWay.ended
    const mine: Sights = new Map()
    for (const sights of [...this.#full, this.#open]) {
      const sight = sights.get(sessionId)
      if (sight && !this.#isWritten(sessionId, sight)) keepNewest(mine, sessionId, sight)
    }
    await this.#write(mine)
  }

  /** Writes what is left, as far as the store takes it. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimer?.()
    await this.#underWay?.ended
    try {
      while (this.#isWaiting()) {
        const sights = this.#takeBatch()
        const written = this.#write(sights)
        this.#underWay = { sights, ended: written.catch(() => {}) }
        await written
      }
    } catch {
      // The store is gone: what is lost delays rotations, no more.
    }
  }

  #isWaiting(): boolean {
    return this.#full.length > 0 || this.#open.size > 0
  }

  #openAnother(): boolean {
    if (this.#isAtMost() && this.#filledSinceLook >= mapsBetweenLooks) this.#squeeze()
    if (this.#isAtMost()) return false
    this.#filledSinceLook += 1
    this.#full.push(this.#open)
    this.#open = new Map()
    return true
  }

  #isAtMost(): boolean {
    const underWay = this.#underWay === null ? 0 : 1
    return this.#full.length + 1 + underWay >= mostMaps
  }

  /** Each session keeps one place, with its newest sight: those seen again and again take none from others. */
  #squeeze(): void {
    const newest: Sights = new Map()
    for (const [sessionId, sight] of this.#full.flatMap((sights) => [...sights])) {
      if (!this.#isWritten(sessionId, sight)) keepNewest(newest, sessionId, sight)
    }
    this.#full = inBatches(newest)
    this.#filledSinceLook = 0
  }

  /** One batch is under way at a time. */
  #arm(): void {
    if (this.#stopTimer !== null || this.#underWay !== null || this.#closed) return
    this.#stopTimer = this.#options.timer(this.#waitMs, () => {
      this.#stopTimer = null
      const sights = this.#takeBatch()
      this.#underWay = { sights, ended: this.#send(sights) }
    })
  }

  async #send(batch: Sights): Promise<void> {
    try {
      await this.#write(batch)
      this.#waitMs = batch.size === batchSize || this.#full.length > 0 ? nextBatchMs : gatheringMs
    } catch {
      this.#full.unshift(batch)
      this.#filledSinceLook = mapsBetweenLooks
      this.#waitMs = Math.min(2 * Math.max(this.#waitMs, gatheringMs), longestWaitMs)
    }
    this.#underWay = null
    if (this.#isWaiting()) this.#arm()
  }

  #isWritten(sessionId: string, { counter }: Sight): boolean {
    return (this.#written.get(sessionId) ?? -1) >= counter
  }

  /** The oldest that are not written, off the others. */
  #takeBatch(): Sights {
    const batch: Sights = new Map()
    for (let looked = 0; looked < mapsAtOnce && this.#isWaiting(); looked += 1) {
      const oldest = this.#full[0] ?? this.#open
      for (const [sessionId, sight] of oldest) {
        if (batch.size === batchSize) return batch
        if (!this.#isWritten(sessionId, sight)) keepNewest(batch, sessionId, sight)
        oldest.delete(sessionId)
      }
      if (oldest !== this.#open) this.#full.shift()
    }
    return batch
  }

  async #write(batch: Sights): Promise<void> {
    if (batch.size === 0) return
    const now = this.#options.clock.monotonicMs()
    const proofs = Array.from(batch, ([sessionId, { counter, seenAtMs }]): Proof => {
      return { sessionId, counter, ageMs: Math.max(0, now - seenAtMs) }
    })
    await this.#options.sessions.prove(proofs)
    for (const [sessionId, sight] of batch) {
      if (!this.#isWritten(sessionId, sight)) this.#written.set(sessionId, sight.counter)
    }
  }
}

function keepNewest(sights: Sights, sessionId: string, sight: Sight): void {
  const known = sights.get(sessionId)
  if (known === undefined || known.counter < sight.counter) sights.set(sessionId, sight)
}

function inBatches(sights: Sights): Sights[] {
  const all = [...sights]
  const count = Math.ceil(all.length / batchSize)
  return Array.from({ length: count }, (_, index) => new Map(all.slice(index * batchSize, (index + 1) * batchSize)))
}
