type Transfer = readonly ArrayBuffer[]

/** Sends what was posted during one round of the event loop as one message, since each message wakes the other side. */
export interface Outbox<T> {
  post(message: T, transfer?: Transfer): void
  /** Sends now what was posted so far. */
  flush(): void
}

/** `onRefused` gets a message that cannot be cloned. */
export function createOutbox<T>(
  send: (messages: readonly T[], transfer: Transfer) => void,
  onRefused: (message: T, error: unknown) => void,
): Outbox<T> {
  let posted: { message: T; transfer: Transfer }[] = []
  let isScheduled = false

  function flush(): void {
    const batch = posted
    posted = []
    isScheduled = false
    if (batch.length === 0) return
    try {
      send(
        batch.map(({ message }) => message),
        batch.flatMap(({ transfer }) => transfer),
      )
    } catch {
      // Nothing was sent. One of them is at fault.
      for (const { message, transfer } of batch) sendAlone(message, transfer)
    }
  }

  function sendAlone(message: T, transfer: Transfer): void {
    try {
      send([message], transfer)
    } catch (error) {
      onRefused(message, error)
    }
  }

  return {
    post(message, transfer = []) {
      posted.push({ message, transfer })
      if (isScheduled) return
      isScheduled = true
      setImmediate(flush)
    },
    flush,
  }
}
