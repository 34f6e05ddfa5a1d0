import { createRecent } from '../lib/recent.js'
import type { Clock, Proofs } from '../ports.js'
import type { Proof, Sessions } from '../store/sessions.js'

/** How long first sights are gathered before they are written. */
const gatheringMs = 1_000
/** When the store fails, the wait doubles up to this. */
const longestWaitMs = 30_000
/** The most that one statement writes. The rest follows in further batches, sooner. */
const batchSize = 200
const nextBatchMs = 50
/** The most sights that wait. A further session is left out, which delays its rotation until its token is seen anew. */
const mostWaiting = 50_000
/** How many sessions are remembered as written, so that a token that left the cache is not written again. */
const rememberedSessions = 50_000

interface Sight {
  counter: number
  seenAtMs: number
}

/** By session id. */
type Sights = ReadonlyMap<string, Sight>

export interface RotationProofsOptions {
  sessions: Pick<Sessions, 'prove'>
  clock: Pick<Clock, 'monotonicMs'>
  timer: (milliseconds: number, callback: () => void) => () => void
}

/**
 * Gathers which rotation of which session a verifier has seen. The newest counter of a session is kept with its first
 * sight until the store confirms it. A process that dies loses its waiting sights, which only delays rotations.
 */
export class RotationProofs implements Proofs {
  readonly #options: RotationProofsOptions
  /** Includes the batch that is being written: a sight leaves once the store has confirmed it. */
  readonly #waiting = new Map<string, Sight>()
  /** `ended` never rejects; it tells whether the store took the batch. */
  #underWay: { sights: Sights; ended: Promise<boolean> } | null = null
  readonly #written = createRecent<number>(rememberedSessions)
  #stopTimer: (() => void) | null = null
  #waitMs = gatheringMs
  #closed = false

  constructor(options: RotationProofsOptions) {
    this.#options = options
  }

  note(sessionId: string, counter: number, seenAtMs: number): void {
    const known = this.#waiting.get(sessionId)
    if (known === undefined ? this.#waiting.size >= mostWaiting : known.counter >= counter) return
    if (this.#isWritten(sessionId, counter)) return
    this.#waiting.set(sessionId, { counter, seenAtMs })
    this.#arm()
  }

  async settle(sessionId: string): Promise<void> {
    if (this.#underWay?.sights.has(sessionId)) await this.#underWay.ended
    const sight = this.#waiting.get(sessionId)
    if (sight !== undefined) await this.#write(new Map([[sessionId, sight]]))
  }

  /** Writes the waiting sights, until the store fails. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimer?.()
    await this.#underWay?.ended
    let isTaken = true
    while (isTaken && this.#waiting.size > 0) isTaken = await this.#startBatch()
  }

  /** Starts the timer, unless it runs or a batch is being written: one batch at a time. */
  #arm(): void {
    if (this.#stopTimer !== null || this.#underWay !== null || this.#closed) return
    this.#stopTimer = this.#options.timer(this.#waitMs, () => {
      this.#stopTimer = null
      void this.#startBatch()
    })
  }

  #startBatch(): Promise<boolean> {
    const sights = firstOf(this.#waiting, batchSize)
    const ended = this.#send(sights)
    this.#underWay = { sights, ended }
    return ended
  }

  async #send(sights: Sights): Promise<boolean> {
    const isTaken = await this.#write(sights).then(
      () => true,
      () => false,
    )
    if (!isTaken) this.#waitMs = Math.min(2 * Math.max(this.#waitMs, gatheringMs), longestWaitMs)
    else this.#waitMs = sights.size === batchSize ? nextBatchMs : gatheringMs
    this.#underWay = null
    if (this.#waiting.size > 0) this.#arm()
    return isTaken
  }

  async #write(sights: Sights): Promise<void> {
    if (sights.size === 0) return
    const now = this.#options.clock.monotonicMs()
    const proofs = Array.from(sights, ([sessionId, { counter, seenAtMs }]): Proof => {
      return { sessionId, counter, ageMs: Math.max(0, now - seenAtMs) }
    })
    await this.#options.sessions.prove(proofs)
    for (const [sessionId, { counter }] of sights) this.#confirm(sessionId, counter)
  }

  #confirm(sessionId: string, counter: number): void {
    if (!this.#isWritten(sessionId, counter)) this.#written.set(sessionId, counter)
    const known = this.#waiting.get(sessionId)
    if (known !== undefined && known.counter <= counter) this.#waiting.delete(sessionId)
  }

  #isWritten(sessionId: string, counter: number): boolean {
    return (this.#written.get(sessionId) ?? -1) >= counter
  }
}

/** The oldest entries of a map. */
function firstOf(sights: Sights, count: number): Sights {
  const first = new Map<string, Sight>()
  for (const [sessionId, sight] of sights) {
    if (first.size === count) break
    first.set(sessionId, sight)
  }
  return first
}
