import type { World } from '../../lib/runtime.js'

/** What follows on a crash. */
export interface AfterCrash {
  /** Milliseconds to wait before the next start. */
  waitMs: number
  /** It has crashed too often, so that starts follow each other slowly. */
  isCrashed: boolean
  /** This crash was the one too many. */
  isFirst: boolean
}

/** When a space may be started again after its application ended by itself. */
export interface Restarts {
  /** The application crashed, or did not start. */
  afterCrash(livedMs: number): AfterCrash
  /** A request took the application down. It counts as no crash of the code. @returns milliseconds to wait */
  afterRequest(livedMs: number): number
  /** The host could not start it, for which the application is not to blame. @returns milliseconds to wait */
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
/** The first and the longest wait of an application that has crashed too often. */
const slow = { firstMs: 30_000, longestMs: 5 * 60_000 } as const

export function createRestarts({ monotonic }: Pick<World, 'monotonic'>): Restarts {
  let next = firstMs
  let crashes: number[] = []
  let isCrashed = false

  function wait(): number {
    const waited = next
    next = Math.min(isCrashed ? slow.longestMs : longestMs, next * 2)
    return waited
  }

  function reset(): void {
    next = firstMs
    crashes = []
    isCrashed = false
  }

  function noteLife(livedMs: number): void {
    if (livedMs < wellMs) return
    next = firstMs
    if (isCrashed) reset()
  }

  return {
    afterCrash(livedMs) {
      noteLife(livedMs)
      const now = monotonic()
      crashes = [...crashes.filter((at) => now - at < periodMs), now]
      const isFirst = !isCrashed && crashes.length >= mostCrashes
      if (isFirst) {
        isCrashed = true
        next = slow.firstMs
      }
      return { waitMs: wait(), isCrashed, isFirst }
    },
    afterRequest(livedMs) {
      noteLife(livedMs)
      return wait()
    },
    afterFault: wait,
    reset,
  }
}
