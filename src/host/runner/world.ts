import { randomBytes, randomInt } from 'node:crypto'

// Clock, randomness and environment of the child. They are here because the runner imports nothing of `lib/`.

/** A new `_id`: 8 hexadecimal digits of Unix seconds, then 64 random bits, so that the order of `_id`s is that of time. */
export function newId(): string {
  const seconds = Math.floor(Date.now() / 1_000)
  return seconds.toString(16).padStart(8, '0') + randomBytes(8).toString('hex')
}

/** Milliseconds since this process began. The clock is never set back. */
export function nowMs(): number {
  return performance.now()
}

/** Waits for a random time. Its upper bound doubles with each attempt, from 1 ms to 64 ms. */
export function pause(attempt: number): Promise<void> {
  const most = 2 ** Math.min(attempt, 6)
  return new Promise((resolve) => setTimeout(resolve, randomInt(most + 1)))
}

/**
 * Before the bundle is imported, because applications read their environment at import. `TMPDIR` is the child's own folder, its
 * home: without it `os.tmpdir()` would be `/tmp`, where a child may not write.
 */
export function setEnvironment(values: Readonly<Record<string, string>>): void {
  Object.assign(process.env, { TMPDIR: process.env.HOME }, values)
}
