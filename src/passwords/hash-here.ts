import { type BinaryLike, pbkdf2, type ScryptOptions, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { startStopwatch } from '../lib/stopwatch.js'
import { requireArgon2 } from './argon2-package.js'
import type { HashJob, HashResult } from './hash-job.js'
import { argon2Parameters, scryptParameters } from './hash-parameters.js'

/**
 * Computes where there are no threads to be had. bcryptjs lets the event loop turn every 100 ms; the others are native
 * and wait in libuv's pool.
 */
export async function hashHere(job: HashJob): Promise<HashResult> {
  const compute = await prepare(job)
  const elapsed = startStopwatch()
  const hash = await compute()
  return { hash, milliseconds: elapsed() }
}

async function prepare(job: HashJob): Promise<() => Promise<string>> {
  switch (job.scheme) {
    case 'bcrypt': {
      const { hash } = await import('bcryptjs')
      return () => hash(job.text, job.salt)
    }
    case 'argon2id': {
      const { hash } = requireArgon2()
      return () => hash(job.text, argon2Parameters(job))
    }
    case 'scrypt': {
      const salt = Buffer.from(job.salt, 'base64')
      return async () => (await scryptBytes(job.text, salt, job.bytes, scryptParameters(job))).toString('base64')
    }
    case 'pbkdf2': {
      const salt = Buffer.from(job.salt, 'base64')
      return async () => (await pbkdf2Bytes(job.text, salt, job.iterations, job.bytes, job.digest)).toString('base64')
    }
  }
}

const pbkdf2Bytes = promisify(pbkdf2)
const scryptBytes = promisify<BinaryLike, BinaryLike, number, ScryptOptions, Buffer>(scrypt)
