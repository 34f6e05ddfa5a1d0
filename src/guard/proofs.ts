import { createRecent } from '../lib/recent.js'
import type { Clock, Proofs } from '../ports.js'
import type { Proof, Sessions } from '../store/sessions.js'

/** How long first sights are gathered before they are written. */
const batchMs = 1_000
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

export interface ProofsOptions {
  sessions: Pick<Sessions, 'prove'>
  clock: Pick<Clock, 'monotonicMs'>
  timer: (milliseconds: number, callback: () => void) => () => void
}

/**
 * Gathers which rotation of which session a verifier has seen. The newest counter of a session is kept with its first
 * sight until the store confirms it; a process that dies loses at most one batch, which delays a rotation and nothing else.
 */
export class ProofBatches implements Proofs {
  readonly #options: ProofsOptions
  readonly #pending = new Map<string, Sight>()
  readonly #written = createRecent<number>(rememberedSessions)
  #stopTimer: (() => void) | null = null
  #waitMs = batchMs
  #closed = false

  constructor(options: ProofsOptions) {
    this.#options = options
  }

  note(sessionId: string, counter: number, seenAtMs: number): void {
    const waiting = this.#pending.get(sessionId)
    if (waiting === undefined ? this.#pending.size >= rememberedSessions : waiting.counter >= counter) return
    this.#pending.set(sessionId, { counter, seenAtMs })
    this.#arm()
  }

  async settle(sessionId: string): Promise<void> {
    const sight = this.#pending.get(sessionId)
    if (sight && !this.#isWritten(sessionId, sight)) await this.#write([[sessionId, sight]])
  }

  /** Writes what is left, as far as the store takes it. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimer?.()
    try {
      while (this.#pending.size > 0) await this.#write(this.#nextBatch())
    } catch {
      // The store is gone: what is lost delays rotations, no more.
    }
  }

  #arm(): void {
    if (this.#stopTimer !== null || this.#closed) return
    this.#stopTimer = this.#options.timer(this.#waitMs, () => {
      this.#stopTimer = null
      void this.#tick()
    })
  }

  async #tick(): Promise<void> {
    try {
      const batch = this.#nextBatch()
      await this.#write(batch)
      this.#waitMs = batch.length === batchSize ? nextBatchMs : batchMs
    } catch {
      this.#waitMs = Math.min(2 * Math.max(this.#waitMs, batchMs), longestWaitMs)
    }
    if (this.#pending.size > 0) this.#arm()
  }

  /** Asked when a batch is put together, off the path of requests. */
  #isWritten(sessionId: string, { counter }: Sight): boolean {
    return (this.#written.get(sessionId) ?? -1) >= counter
  }

  #nextBatch(): [sessionId: string, sight: Sight][] {
    const batch: [string, Sight][] = []
    for (const entry of this.#pending) {
      if (this.#isWritten(...entry)) this.#pending.delete(entry[0])
      else batch.push(entry)
      if (batch.length === batchSize) break
    }
    return batch
  }

  async #write(batch: readonly (readonly [sessionId: string, sight: Sight])[]): Promise<void> {
    if (batch.length === 0) return
    const now = this.#options.clock.monotonicMs()
    const proofs = batch.map(([sessionId, { counter, seenAtMs }]): Proof => {
      return { sessionId, counter, ageMs: Math.max(0, now - seenAtMs) }
    })
    await this.#options.sessions.prove(proofs)
    for (const proof of proofs) this.#confirm(proof)
  }

  /** A larger counter that was seen while the batch was on its way stays pending. */
  #confirm({ sessionId, counter }: Proof): void {
    if (this.#pending.get(sessionId)?.counter === counter) this.#pending.delete(sessionId)
    this.#written.set(sessionId, counter)
  }
}
