/** Bounds how many spaces start at once after a start of the host. */
export interface StartQueue {
  /** Runs the start as soon as there is room. Starts of one key run once at a time. */
  add(key: string, start: () => Promise<void>): void
  /** The next start is that of this key, if it waits. */
  prefer(key: string): void
  /** Starts that wait are forgotten. */
  clear(): void
}

export function createStartQueue(atOnce: number): StartQueue {
  const waiting = new Map<string, () => Promise<void>>()
  let preferred: string[] = []
  let running = 0

  function next(): void {
    while (running < atOnce) {
      const key = preferred.shift() ?? waiting.keys().next().value
      if (key === undefined) return
      const start = waiting.get(key)
      waiting.delete(key)
      if (start === undefined) continue
      running += 1
      void start().finally(() => {
        running -= 1
        next()
      })
    }
  }

  return {
    add(key, start) {
      waiting.set(key, start)
      next()
    },
    prefer(key) {
      if (waiting.has(key) && !preferred.includes(key)) preferred.push(key)
    },
    clear() {
      waiting.clear()
      preferred = []
    },
  }
}
