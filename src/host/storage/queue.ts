import { unavailable } from './faults.js'

/** Runs a bounded number of jobs at once; others wait in their order. */
export interface Queue {
  /** @throws {StoreError} `store_unavailable` when too many wait already, and what the job throws */
  run<T>(job: () => Promise<T>): Promise<T>
  /** Resolves when no job runs or waits. */
  idle(): Promise<void>
}

export function createQueue(most: { running: number; waiting: number }): Queue {
  const waiting: (() => void)[] = []
  const idlers: (() => void)[] = []
  let running = 0

  async function enter(): Promise<void> {
    if (running < most.running) {
      running += 1
      return
    }
    if (waiting.length >= most.waiting) throw unavailable()
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** The next one takes the place over. */
  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
    if (running === 0) for (const resolve of idlers.splice(0)) resolve()
  }

  return {
    async run(job) {
      await enter()
      try {
        return await job()
      } finally {
        leave()
      }
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
  }
}
