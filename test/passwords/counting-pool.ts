import type { HashJob } from '../../src/passwords/hash-job.js'
import { createHashPool, type HashPool, type HashPoolOptions } from '../../src/passwords/hash-pool.js'

/** A real pool that writes down what it was asked for: how many computations, at which cost, over how many bytes. */
export interface CountingPool extends HashPool {
  jobs: HashJob[]
}

export function createCountingPool(options: HashPoolOptions = {}): CountingPool {
  const pool = createHashPool(options)
  const jobs: HashJob[] = []
  return {
    jobs,
    run(job) {
      jobs.push(job)
      return pool.run(job)
    },
    requireRoom: () => pool.requireRoom(),
    queued: () => pool.queued(),
    close: () => pool.close(),
  }
}

/** The cost of a bcrypt computation, for a new salt or an old one. */
export function costOf(job: HashJob): number {
  if (job.scheme !== 'bcrypt') throw new Error(`${job.scheme} has no such cost`)
  return typeof job.salt === 'number' ? job.salt : Number(job.salt.slice(4, 6))
}
