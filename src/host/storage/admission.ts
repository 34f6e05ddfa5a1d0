/** Admits requests while their number and their bytes are within bounds; others wait in their order. */
export interface Admission {
  /**
   * Resolves to the function that gives the place back, or to null when the client leaves before its turn. `onGone` registers a
   * callback for that.
   */
  enter(bytes: number, onGone: (callback: () => void) => void): Promise<(() => void) | null>
}

interface Waiting {
  bytes: number
  start(): void
}

/** One request is always admitted, however large. */
export function createAdmission(most: { requests: number; bytes: number }): Admission {
  const waiting: Waiting[] = []
  let requests = 0
  let bytes = 0

  const fits = (more: number) => requests === 0 || (requests < most.requests && bytes + more <= most.bytes)

  function take(more: number): () => void {
    requests += 1
    bytes += more
    return () => {
      requests -= 1
      bytes -= more
      startFitting()
    }
  }

  function startFitting(): void {
    while (waiting[0] && fits(waiting[0].bytes)) waiting.shift()?.start()
  }

  return {
    async enter(wanted, onGone) {
      if (waiting.length === 0 && fits(wanted)) return take(wanted)
      return new Promise((resolve) => {
        const place: Waiting = { bytes: wanted, start: () => resolve(take(wanted)) }
        waiting.push(place)
        onGone(() => {
          const at = waiting.indexOf(place)
          if (at !== -1) waiting.splice(at, 1)
          startFitting()
          resolve(null)
        })
      })
    },
  }
}
