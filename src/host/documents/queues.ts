export interface Queues {
  /** Runs the steps of one key one after another; steps of other keys do not wait. */
  run<T>(key: string, step: () => Promise<T>): Promise<T>
}

/** Parallel updates of one document in one child would lose to each other and try again for nothing. */
export function createQueues(): Queues {
  const last = new Map<string, Promise<unknown>>()
  return {
    run(key, step) {
      const before = last.get(key) ?? Promise.resolve()
      const result = before.then(step, step)
      const settled = result.then(
        () => {},
        () => {},
      )
      last.set(key, settled)
      void settled.then(() => {
        if (last.get(key) === settled) last.delete(key)
      })
      return result
    },
  }
}
