/** The running requests of one child. */
export interface RequestCount {
  /** Counts one; the result ends it, once. */
  begin(): () => void
  running(): number
  /** All that ever began. */
  begun(): number
  /** Resolves as soon as none runs. */
  whenNone(): Promise<void>
}

export function countRequests(): RequestCount {
  let count = 0
  let begun = 0
  let waiting: (() => void)[] = []

  function end(): void {
    count -= 1
    if (count > 0) return
    const resolved = waiting
    waiting = []
    for (const resolve of resolved) resolve()
  }

  return {
    begin() {
      count += 1
      begun += 1
      let isRunning = true
      return () => {
        if (isRunning) end()
        isRunning = false
      }
    },
    running: () => count,
    begun: () => begun,
    whenNone: () =>
      new Promise((resolve) => {
        if (count === 0) resolve()
        else waiting.push(resolve)
      }),
  }
}
