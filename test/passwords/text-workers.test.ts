import type { Worker } from 'node:worker_threads'
import { compare } from 'bcryptjs'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { hashHere } from '../../src/passwords/hash-here.js'
import { TextWorkers } from '../../src/passwords/text-workers.js'
import { hasArgon2 } from '../support/addons.js'

const started: Worker[] = []
const watch = (worker: Worker) => started.push(worker)
beforeEach(() => void process.on('worker', watch))
afterEach(() => {
  process.off('worker', watch)
  started.length = 0
})

function makeWorkers(threads: number): TextWorkers {
  const workers = new TextWorkers(threads)
  onTestFinished(() => workers.close())
  return workers
}

const salt = Buffer.from('0123456789abcdef').toString('base64')
const job = { scheme: 'bcrypt', text: 'text', salt: 4 } as const
const longJob = { ...job, salt: 12 }

test.skipIf(!hasArgon2)('every scheme is computed in a thread, from text alone', async () => {
  const { verifySync } = await import('@node-rs/argon2')
  const workers = makeWorkers(1)
  const { hash, milliseconds } = await workers.run(job)
  expect(await compare('text', hash)).toBe(true)
  expect(milliseconds).toBeGreaterThan(0)

  const argon2id = {
    scheme: 'argon2id',
    text: 'text',
    salt,
    memoryKiB: 64,
    passes: 1,
    parallelism: 1,
    bytes: 32,
  } as const
  expect(verifySync((await workers.run(argon2id)).hash, 'text')).toBe(true)
  const scrypt = {
    scheme: 'scrypt',
    text: 'text',
    salt,
    cost: 16,
    blockSize: 8,
    parallelization: 1,
    bytes: 32,
  } as const
  expect((await workers.run(scrypt)).hash).toBe((await hashHere(scrypt)).hash)
  const pbkdf2 = { scheme: 'pbkdf2', text: 'text', salt, iterations: 10, digest: 'sha256', bytes: 32 } as const
  expect((await workers.run(pbkdf2)).hash).toBe((await hashHere(pbkdf2)).hash)
  expect(started).toHaveLength(1)
  expect(workers.proven).toBe(true)
})

test('no thread starts before the first job, and two at most', async () => {
  const workers = makeWorkers(2)
  expect(started).toHaveLength(0)
  await Promise.all(Array.from({ length: 20 }, () => workers.run(job)))
  expect(started).toHaveLength(2)
})

test('a thread that ends loses its jobs: only the oldest had begun, and the next job finds another thread', async () => {
  const workers = makeWorkers(1)
  await workers.run(job)
  const jobs = [workers.run(longJob), workers.run(job), workers.run(job)]
  const [lost] = await Promise.all([Promise.allSettled(jobs), started[0]?.terminate()])
  expect(lost.map((answer) => answer.status === 'rejected' && answer.reason.started)).toEqual([true, false, false])
  expect(await compare('text', (await workers.run(job)).hash)).toBe(true)
  expect(started).toHaveLength(2)
})

test('a job that fails does not hold up the next, and its error quotes nothing', async () => {
  const workers = makeWorkers(1)
  const failing = workers.run({ ...job, text: 'secret', salt: 'secret salt' })
  const error: unknown = await failing.catch((reason: unknown) => reason)
  expect(error).toMatchObject({ name: 'WorkerLost', message: 'Error', started: true })
  expect(await compare('text', (await workers.run(job)).hash)).toBe(true)
})

test('after close no thread is left, and no job is taken', async () => {
  const workers = makeWorkers(2)
  await workers.run(job)
  await workers.close()
  await expect(workers.run(job)).rejects.toMatchObject({ name: 'WorkerLost', started: false })
  expect(started.every(({ threadId }) => threadId === -1)).toBe(true)
})
