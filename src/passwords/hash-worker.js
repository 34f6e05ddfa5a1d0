import { pbkdf2Sync, scryptSync } from 'node:crypto'
import { createRequire } from 'node:module'
import { setPriority } from 'node:os'
import { startStopwatch } from '../lib/stopwatch.js'
import { argon2Parameters, scryptParameters } from './hash-parameters.js'

/**
 * The code of the hash pool's threads. Plain JS, so that it starts from `src` without a build as well as from `dist`.
 *
 * Requests come first: many sign-ins at once may only take processor time that nothing else needs. On Linux id 0 means the
 * calling thread (setpriority(2), "C library/kernel differences"); elsewhere it would be the whole process.
 */
if (process.platform === 'linux') {
  try {
    setPriority(0, 19)
  } catch {
    // A sandbox may forbid it. Hashing then competes at normal priority.
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
 * Loads what the scheme needs. Only synchronous functions are used: asynchronous ones would leave this thread and its
 * priority for libuv's pool, where files and DNS look-ups of the application wait.
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
      const { hashSync } = createRequire(import.meta.url)('@node-rs/argon2')
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
