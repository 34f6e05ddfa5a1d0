import { setPriority } from 'node:os'
import { hash } from 'bcryptjs'
import { startStopwatch } from '../lib/stopwatch.js'

/**
 * What the threads of the hash pool run. Plain JS, so that it starts from `src` unbuilt as well as from `dist`.
 *
 * Requests come first: a login storm may take the processor time that nobody else wants. On Linux id 0 means the
 * calling thread (setpriority(2), "C library/kernel differences"); elsewhere it would be the whole process.
 */
if (process.platform === 'linux') {
  try {
    setPriority(0, 19)
  } catch {
    // A sandbox may forbid it; hashing then competes as an equal.
  }
}

/**
 * @param {import('./hash-pool.js').HashJob} job
 * @returns {Promise<import('./hash-pool.js').HashResult>}
 */
export async function run(job) {
  const elapsed = startStopwatch()
  const hashed = await hash(job.text, job.salt)
  return { hash: hashed, milliseconds: elapsed() }
}
