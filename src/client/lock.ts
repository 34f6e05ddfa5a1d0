import { mark, now, type Shared, sleep, type TabLocks } from './browser.js'

/** Runs a task while no other tab runs one. */
export type WithLock = <T>(task: () => Promise<T>) => Promise<T>

/** A tab that was closed in the middle of its turn blocks the others no longer than this. */
const leaseMs = 20_000

/** Two tabs that take a free lease at once both write it; this much later all read the same winner. */
const electionMs = 50

/**
 * One turn after the other, over all tabs: by Web Locks; where there are none (Safari before 15.4, plain http), by a
 * lease in the storage, which is nearly as good. A turn too many does no harm, since the server takes refreshes that race.
 *
 * @param settled what to wait for after a task before the turn ends, though the task's result is handed on at once
 */
export function createLock(
  locks: TabLocks | undefined,
  shared: Shared,
  name: string,
  settled: () => Promise<void> | null,
): WithLock {
  return (task) =>
    new Promise((resolve, reject) => {
      const critical = async () => {
        await task().then(resolve, reject)
        await settled()
      }
      const byLease = () => withLease(shared, `${name}:turn`, critical)
      // Locks are refused to documents without an origin of their own.
      void (locks ? locks.request(name, critical).catch(byLease) : byLease())
    })
}

async function withLease(shared: Shared, key: string, critical: () => Promise<void>): Promise<void> {
  let lease = mark()
  while (shared.read(key) !== lease) {
    const left = Number(shared.read(key).split(' ')[1]) - now()
    // Longer than ours would be: the clock was set back.
    if (!(left > 0 && left <= leaseMs)) {
      lease = `${mark()} ${now() + leaseMs}`
      shared.write(key, lease)
    }
    await sleep(electionMs)
  }
  await critical()
  if (shared.read(key) === lease) shared.write(key, '')
}
