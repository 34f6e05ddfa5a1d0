import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { compare } from 'bcryptjs'
import { afterEach, describe, expect, test } from 'vitest'
import { createHashPool, type HashPool, type HashPoolOptions } from '../../src/passwords/hash-pool.js'

const pools: HashPool[] = []
const started: Worker[] = []
const watched = (worker: Worker) => started.push(worker)

function makePool(options: HashPoolOptions = {}): HashPool {
  const pool = createHashPool(options)
  pools.push(pool)
  return pool
}

/** Ends every thread that starts from now on, as soon as it has taken up its first job. */
function killOnFirstJob(count: number): void {
  const kill = (worker: Worker) => {
    if (--count === 0) process.off('worker', kill)
    // piscina listened first: it has just handed over the job when the thread's word that it is ready comes here.
    worker.once('message', () => void worker.terminate())
  }
  process.on('worker', kill)
}

const job = { scheme: 'bcrypt', text: 'text', salt: 4 } as const
const longJob = { ...job, salt: 10 }
const busy = { code: 'busy', status: 503, details: { retryAfterSeconds: 1 } }

process.on('worker', watched)
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
  process.off('worker', watched)
  process.on('worker', watched)
  started.length = 0
})

describe('worker threads', () => {
  test('a job is computed in a thread, with the time it took', async () => {
    const { hash, milliseconds } = await makePool().run(job)
    expect(await compare('text', hash)).toBe(true)
    expect(milliseconds).toBeGreaterThan(0)
    expect(started).toHaveLength(1)
  })

  test('no thread starts before the first job, and two at most', async () => {
    const pool = makePool()
    expect(started).toHaveLength(0)
    await Promise.all(Array.from({ length: 20 }, () => pool.run(job)))
    expect(started).toHaveLength(2)
  })

  test.runIf(process.platform === 'linux')(
    'threads run at the lowest priority, everything else at its own',
    async () => {
      const before = niceValues()
      const pool = makePool({ threads: 1 })
      await pool.run(job)
      const after = niceValues()
      expect([...after.values()].filter((nice) => nice === '19')).toHaveLength(1)
      for (const [thread, nice] of before) expect(after.get(thread) ?? nice).toBe(nice)
      expect(after.get(String(process.pid))).not.toBe('19')
    },
  )

  test('ATK-019 the event loop keeps turning while threads hash', async () => {
    const pool = makePool()
    await Promise.all([pool.run(job), pool.run(job)]) // both threads are up

    let turns = 0
    let hashing = true
    const turn = () => {
      turns += 1
      if (hashing) setImmediate(turn)
    }
    turn()
    await Promise.all(Array.from({ length: 4 }, () => pool.run(longJob)))
    hashing = false
    // On the event loop four such jobs leave it about one turn each.
    expect(turns).toBeGreaterThan(100)
  })

  test('ATK-019 of 200 jobs at once 2 run and 64 wait, the others are busy', async () => {
    const pool = makePool()
    expect(() => pool.requireRoom()).not.toThrow()
    const running = Array.from({ length: 200 }, () => pool.run(job))
    expect(() => pool.requireRoom()).toThrow(expect.objectContaining(busy))
    const answers = await Promise.allSettled(running)
    expect(() => pool.requireRoom()).not.toThrow()
    expect(answers.slice(0, 66).every((answer) => answer.status === 'fulfilled')).toBe(true)
    for (const answer of answers.slice(66)) expect(answer).toMatchObject({ status: 'rejected', reason: busy })
  })

  test('a place in the queue is free again when a job is done', async () => {
    const pool = makePool({ threads: 1, maxQueue: 1 })
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.allSettled([pool.run(job), pool.run(job), pool.run(job)])
      expect(answers.map((answer) => answer.status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    }
  })
})

describe('a thread that dies', () => {
  test('in the middle of a job: the job is done by another one', async () => {
    const reasons: string[] = []
    const pool = makePool({ threads: 1, onFallback: (reason) => reasons.push(reason) })
    killOnFirstJob(1)
    const { hash } = await pool.run(longJob)
    expect(await compare('text', hash)).toBe(true)
    expect(started).toHaveLength(2)
    expect(reasons).toEqual([])
  })

  test('twice over one job: busy, and the next job finds a new thread', async () => {
    const reasons: string[] = []
    const pool = makePool({ threads: 1, onFallback: (reason) => reasons.push(reason) })
    await pool.run(job)
    const [first] = started
    await first?.terminate()

    killOnFirstJob(2)
    await expect(pool.run(longJob)).rejects.toMatchObject(busy)
    expect(await compare('text', (await pool.run(job)).hash)).toBe(true)
    expect(reasons).toEqual([])
  })

  test('with others waiting: none of them is lost', async () => {
    const pool = makePool({ threads: 2 })
    killOnFirstJob(2)
    const results = await Promise.all(Array.from({ length: 12 }, () => pool.run(job)))
    expect(results.map(({ hash }) => hash.length)).toEqual(Array.from({ length: 12 }, () => 60))
  })

  test('before it was ready, without a word: the job is done all the same', async () => {
    const pool = makePool({ threads: 1 })
    await pool.run(job)
    await started[0]?.terminate()
    process.once('worker', (worker) => void worker.terminate())
    expect(await compare('text', (await pool.run(job)).hash)).toBe(true)
  })

  test('while it is idle: the next job starts another', async () => {
    const pool = makePool({ threads: 1 })
    await pool.run(job)
    await started[0]?.terminate()
    await pool.run(job)
    expect(started).toHaveLength(2)
  })

  test('twice, where no job ever came back: hashing moves to threads that need no file', async () => {
    const reasons: string[] = []
    const pool = makePool({ threads: 1, onFallback: (reason) => reasons.push(reason) })
    killOnFirstJob(2)
    await expect(pool.run(longJob)).rejects.toMatchObject(busy)
    expect(await compare('text', (await pool.run(job)).hash)).toBe(true)
    expect(await compare('text', (await pool.run(job)).hash)).toBe(true)
    expect(started).toHaveLength(3)
    expect(reasons).toEqual([])
  })

  test('twice, where there are no other threads: hashing moves to the event loop, and says so once', async () => {
    const reasons: string[] = []
    const workerFile = new URL('../../src/passwords/hash-worker.js', import.meta.url)
    const pool = makePool({ threads: 1, workerFile, onFallback: (reason) => reasons.push(reason) })
    killOnFirstJob(2)
    await expect(pool.run(longJob)).rejects.toMatchObject(busy)
    expect(await compare('text', (await pool.run(job)).hash)).toBe(true)
    expect(await compare('text', (await pool.run(job)).hash)).toBe(true)
    expect(started).toHaveLength(2)
    expect(reasons).toHaveLength(1)
  })
})

test('of no threads one job runs at a time on the event loop, and the queue is bounded', async () => {
  const reasons: string[] = []
  const pool = makePool({ threads: 0, maxQueue: 1, onFallback: (reason) => reasons.push(reason) })
  const two = [pool.run(job), pool.run(job)]
  expect(pool.queued()).toBe(1)
  await expect(pool.run(job)).rejects.toMatchObject(busy)
  for (const { hash } of await Promise.all(two)) expect(await compare(job.text, hash)).toBe(true)
  expect([started.length, reasons]).toEqual([0, []])
})

describe('without worker threads', () => {
  const missing = new URL('./no-such-worker.js', import.meta.url)
  const broken = new URL('./broken-worker.js', import.meta.url)

  test.each([
    ['the worker file is missing', missing, 'the worker file is missing'],
    ['the worker file throws as it is loaded', broken, 'RangeError'],
  ])('%s: bcryptjs hashes on the event loop, said once', async (_name, workerFile, reason) => {
    const reasons: string[] = []
    const pool = makePool({ workerFile, onFallback: (reason) => reasons.push(reason) })
    const results = await Promise.all(Array.from({ length: 10 }, () => pool.run(job)))
    for (const { hash } of results) expect(await compare('text', hash)).toBe(true)
    expect((await pool.run(job)).milliseconds).toBeGreaterThan(0)
    expect(reasons).toEqual([reason])
  })

  test('the queue is as bounded as with threads, and one job runs at a time', async () => {
    const pool = makePool({ maxQueue: 2, workerFile: missing })
    await pool.run(job)

    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => pool.run(job)))
    expect(answers.map((answer) => answer.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ])
    expect(answers.find((answer) => answer.status === 'rejected')?.reason).toMatchObject(busy)
  })

  test('a failed job does not hold up the next', async () => {
    const pool = makePool({ workerFile: missing })
    await expect(pool.run({ ...job, salt: 'no salt' })).rejects.toThrow()
    expect((await pool.run(job)).hash).toHaveLength(60)
  })
})

describe('closing', () => {
  test('what was accepted is finished in its threads first, what comes later is busy', async () => {
    const reasons: string[] = []
    const pool = makePool({ onFallback: (reason) => reasons.push(reason) })
    let done = 0
    const accepted = Array.from({ length: 6 }, () => pool.run(job).then(() => (done += 1)))
    const closed = pool.close()
    await expect(pool.run(job)).rejects.toMatchObject(busy)
    await closed
    expect(done).toBe(6)
    await Promise.all(accepted)
    await pool.close()
    expect(reasons).toEqual([])
  })

  test('the threads are gone afterwards', async () => {
    const pool = makePool()
    await Promise.all([pool.run(job), pool.run(job), pool.run(job)])
    await pool.close()
    expect(started.map((worker) => worker.threadId)).toEqual([-1, -1])
  })

  test('a pool that never worked closes too', async () => {
    await makePool().close()
    expect(started).toHaveLength(0)
  })
})

test('no error tells what was hashed', async () => {
  const secret = 'a-password-nobody-may-read'
  const pool = makePool({ threads: 1, maxQueue: 0 })
  await pool.run(job)
  killOnFirstJob(2)
  await started[0]?.terminate()
  const errors = await Promise.all([
    pool.run({ ...longJob, text: secret }).catch((error: unknown) => error),
    pool.run({ ...longJob, text: secret }).catch((error: unknown) => error),
  ])
  for (const error of errors) {
    expect(error).toMatchObject(busy)
    expect(
      JSON.stringify([error, String(error), error instanceof Error ? [error.stack, error.cause] : null]),
    ).not.toContain(secret)
  }
})

/** Thread id to nice value, from the kernel (proc(5): field 19 of stat). */
function niceValues(): Map<string, string> {
  const values = new Map<string, string>()
  for (const thread of readdirSync('/proc/self/task')) {
    const path = `/proc/self/task/${thread}/stat`
    if (!existsSync(path)) continue // it has ended since
    const stat = readFileSync(path, 'utf8')
    values.set(thread, stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16] ?? '')
  }
  return values
}
