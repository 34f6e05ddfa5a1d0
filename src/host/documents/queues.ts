export interface Queues {
  /** Runs the steps of one key one after another; steps of other keys do not wait. */
  run<T>(key: string, step: () => Promise<T>): Promise<T>
}

/** Without a queue, parallel updates of one document would overtake each other and try again. */
export function createQueues(): Queues {
  const last = new Map<string, Promise<void>>()
  return {
    run(key, step) {
      const result = (last.get(key) ?? Promise.resolve()).then(step)
      const settled = result.then(ignore, ignore).then(() => {
        if (last.get(key) === settled) last.delete(key)
      })
      last.set(key, settled)
      return result
    },
  }
}

function ignore(): void {}
