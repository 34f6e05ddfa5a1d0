/** The running requests of one child. */
export interface RequestCount {
  /** Counts one; the result ends it, once. */
  begin(): () => void
  running(): number
  /** Whether one runs, or ended at most so many milliseconds ago. */
  ranWithin(milliseconds: number): boolean
  /** Resolves as soon as none runs. */
  whenNone(): Promise<void>
}

/** @param nowMs milliseconds of a clock that is never set back */
export function countRequests(nowMs: () => number): RequestCount {
  let count = 0
  let lastEndMs: number | null = null
  let waiting: (() => void)[] = []

  function end(): void {
    count -= 1
    lastEndMs = nowMs()
    if (count > 0) return
    const resolved = waiting
    waiting = []
    for (const resolve of resolved) resolve()
  }

  return {
    begin() {
      count += 1
      let isRunning = true
      return () => {
        if (isRunning) end()
        isRunning = false
      }
    },
    running: () => count,
    ranWithin: (milliseconds) => count > 0 || (lastEndMs !== null && nowMs() - lastEndMs <= milliseconds),
    whenNone: () =>
      new Promise((resolve) => {
        if (count === 0) resolve()
        else waiting.push(resolve)
      }),
  }
}
