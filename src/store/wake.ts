/**
 * Wakes the readers of the change feed in other processes. It is only a hint: the rows of the store are authoritative, and
 * every process reads them twice a second anyway. A hint that is lost, doubled or forged costs a read or half a second.
 */
export interface Wake {
  /** Rows were committed that other processes need. Never waits and never throws. */
  notify(): void
  /** Calls back whenever another process notifies, and whenever a notification may have been missed. */
  listen(wake: () => void): void
  close(): Promise<void>
}
