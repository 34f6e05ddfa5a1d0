import { pbkdf2Sync, scryptSync } from 'node:crypto'
import { setPriority } from 'node:os'
import { startStopwatch } from '../lib/stopwatch.js'
import { argon2Parameters, scryptParameters } from './hash-parameters.js'

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
 * @param {import('./hash-job.js').HashJob} job
 * @returns {Promise<import('./hash-job.js').HashResult>}
 */
export async function run(job) {
  const compute = await prepare(job)
  const elapsed = startStopwatch()
  const hash = await compute()
  return { hash, milliseconds: elapsed() }
}

/**
 * Loads what the scheme needs. Only synchronous functions: the others would leave this thread, at another priority,
 * for libuv's pool, where files and name look-ups of the application wait.
 *
 * @param {import('./hash-job.js').HashJob} job
 * @returns {Promise<() => string | Promise<string>>}
 */
async function prepare(job) {
  switch (job.scheme) {
    case 'bcrypt': {
      const { hash } = await import('bcryptjs')
      return () => hash(job.text, job.salt)
    }
    case 'argon2id': {
      const { hashSync } = await import('@node-rs/argon2')
      return () => hashSync(job.text, argon2Parameters(job))
    }
    case 'scrypt':
      return () =>
        scryptSync(job.text, Buffer.from(job.salt, 'base64'), job.bytes, scryptParameters(job)).toString('base64')
    case 'pbkdf2':
      return () =>
        pbkdf2Sync(job.text, Buffer.from(job.salt, 'base64'), job.iterations, job.bytes, job.digest).toString('base64')
  }
}
