/**
 * Wakes the readers of the change feed in other processes. Only ever a hint: the rows of the store are the truth, every
 * process reads them twice a second anyway, and a hint that is lost, doubled or forged costs a read or half a second.
 */
export interface Wake {
  /** Rows were committed that other processes want to know of. Never waits and never throws. */
  notify(): void
  /** Calls back whenever another process has told, and whenever that may have been missed. */
  listen(wake: () => void): void
  close(): Promise<void>
}
