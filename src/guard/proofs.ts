import type { Clock, Proofs } from '../ports.js'
import type { Proof, Sessions } from '../store/sessions.js'

/** How long first sights are gathered before they are written. */
const batchMs = 1_000
/** A store that fails is asked again after twice as long each time, up to this. */
const longestWaitMs = 30_000
/** How many one statement run writes; more wait for the next. */
const batchSize = 200
/** How many written sights are remembered, so that a token that left the cache is not written again. */
const rememberedSessions = 50_000

interface Sight {
  counter: number
  seenAtMs: number
}

/**
 * Gathers which rotation of which session a verifier has seen. The newest counter of a session is kept with its first
 * sight until the store confirms it; a process that dies loses at most one batch, which delays a rotation and nothing else.
 */
export function createProofs(options: {
  sessions: Pick<Sessions, 'prove'>
  clock: Pick<Clock, 'monotonicMs'>
  timer: (milliseconds: number, callback: () => void) => () => void
}): Proofs & { flush(): Promise<void>; close(): Promise<void> } {
  const pending = new Map<string, Sight>()
  const written = new Map<string, number>()
  let stopTimer: (() => void) | null = null
  let waitMs = batchMs
  let closed = false

  function arm(): void {
    if (stopTimer !== null || closed) return
    stopTimer = options.timer(waitMs, () => {
      stopTimer = null
      void tick()
    })
  }

  async function tick(): Promise<void> {
    try {
      await writeBatch()
      waitMs = batchMs
    } catch {
      waitMs = Math.min(2 * waitMs, longestWaitMs)
    }
    if (pending.size > 0) arm()
  }

  async function writeBatch(only?: string): Promise<void> {
    const now = options.clock.monotonicMs()
    const batch: Proof[] = []
    for (const [sessionId, sight] of pending) {
      if (only !== undefined && sessionId !== only) continue
      batch.push({ sessionId, counter: sight.counter, ageMs: Math.max(0, now - sight.seenAtMs) })
      if (batch.length === batchSize) break
    }
    if (batch.length === 0) return
    await options.sessions.prove(batch)
    for (const proof of batch) confirm(proof)
  }

  /** A larger counter that was seen while the batch was on its way stays pending. */
  function confirm(proof: Proof): void {
    if (pending.get(proof.sessionId)?.counter === proof.counter) pending.delete(proof.sessionId)
    written.delete(proof.sessionId)
    written.set(proof.sessionId, proof.counter)
    if (written.size <= rememberedSessions) return
    const oldest = written.keys().next()
    if (!oldest.done) written.delete(oldest.value)
  }

  async function flush(): Promise<void> {
    while (pending.size > 0) await writeBatch()
  }

  return {
    note(sessionId, counter) {
      const seen = Math.max(pending.get(sessionId)?.counter ?? -1, written.get(sessionId) ?? -1)
      if (seen >= counter) return
      pending.set(sessionId, { counter, seenAtMs: options.clock.monotonicMs() })
      arm()
    },
    async settle(sessionId) {
      if (pending.has(sessionId)) await writeBatch(sessionId)
    },
    flush,
    async close() {
      closed = true
      stopTimer?.()
      await flush().catch(() => {})
    },
  }
}
