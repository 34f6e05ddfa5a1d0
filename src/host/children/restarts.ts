import type { World } from '../../lib/runtime.js'

/** When a space may be started again after its application ended by itself. */
export interface Restarts {
  /** The application crashed, or did not start. @returns milliseconds to wait, or null when it crashes too often */
  afterCrash(livedMs: number): number | null
  /** The host could not start it, for which the application is not to blame. */
  afterFault(): number
  /** Forgets all crashes, as a deploy does. */
  reset(): void
}

const firstMs = 100
const longestMs = 30_000
/** A child that lived this long was well. */
const wellMs = 60_000
const mostCrashes = 10
const periodMs = 10 * 60_000

export function createRestarts({ monotonic }: Pick<World, 'monotonic'>): Restarts {
  let next = firstMs
  let crashes: number[] = []

  function wait(): number {
    const waited = next
    next = Math.min(longestMs, next * 2)
    return waited
  }

  return {
    afterCrash(livedMs) {
      const now = monotonic()
      crashes = [...crashes.filter((at) => now - at < periodMs), now]
      if (crashes.length >= mostCrashes) return null
      if (livedMs >= wellMs) next = firstMs
      return wait()
    },
    afterFault: wait,
    reset() {
      next = firstMs
      crashes = []
    },
  }
}
