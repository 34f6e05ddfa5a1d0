import type { World } from '../../lib/runtime.js'

/** Watches whether a reader takes 64 KiB a second, over all its pauses. The time that reading takes us does not count. */
export interface ReaderWatch {
  /** The reader waits for us. */
  pause(): void
  /** The reader has got that many bytes, and works on them. */
  resume(bytes: number): void
  end(): void
}

const bytesPerMs = 64 * 1.024
/** What a reader may take before its first page, and beyond the pace. */
const graceMs = 10_000
/** What a fast reader saves up, so that none stays for an hour by its first second. */
const mostCreditMs = 60_000

export function watchReader({ now, timer }: Pick<World, 'now' | 'timer'>, onLate: () => void): ReaderWatch {
  let creditMs = graceMs
  let since = now()
  let cancel = () => {}
  return {
    pause() {
      cancel()
      // A clock that is set back gives nothing.
      creditMs -= Math.max(0, now() - since)
    },
    resume(bytes) {
      const ownMs = bytes / bytesPerMs
      creditMs = Math.min(creditMs + ownMs, Math.max(mostCreditMs, graceMs + ownMs))
      since = now()
      cancel = timer(Math.max(0, creditMs), onLate)
    },
    end: () => cancel(),
  }
}
