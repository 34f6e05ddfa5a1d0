import { createJob, type Decision, type Job } from './job.js'
import { createLock, type Lock, type LockHold, type LockOptions } from './lock.js'

/** A queue that runs steps one after another, across all processes. */
export interface Queue {
  /** Runs alone among all processes, with the newest time of the queue. May run again when its lock ended too soon. */
  step<T>(decide: (clockMs: number) => Promise<Decision<T>>): Promise<T>
  /** Runs so that it sees every step as a whole or not at all. May run again. */
  read<T>(run: () => Promise<T>): Promise<T>
  /** Resolves when this process has released its lock, if it had one, so that no other process waits for the lease. */
  idle(): Promise<void>
}

export interface QueueOptions extends LockOptions {
  randomId(): string
}

/** Waiting steps of this process share a lock for that long; then other processes may take it. */
const sharedMs = 200
const readAttempts = 5

export function createQueue(name: string, options: QueueOptions): Queue {
  const line: Line = {
    ...options,
    lock: createLock(name, options),
    queue: [],
    working: false,
    idle: Promise.resolve(),
  }
  return {
    step: (decide) => enqueue(line, decide),
    idle: () => line.idle,
    async read(run) {
      for (let attempt = 0; attempt < readAttempts; attempt += 1) {
        const before = await line.lock.read()
        if (!before.journal) {
          const answer = await run()
          const after = await line.lock.read()
          if (!after.journal && after.journals === before.journals) return answer
        }
        await options.sleep(2 + options.random() * 8)
      }
      return enqueue(line, async () => ({ answer: await run(), writes: [] }))
    },
  }
}

/** The steps that wait in this process. */
interface Line extends QueueOptions {
  lock: Lock
  queue: Job[]
  working: boolean
  idle: Promise<void>
}

function enqueue<T>(line: Line, decide: (clockMs: number) => Promise<Decision<T>>): Promise<T> {
  return new Promise((resolve, reject) => {
    line.queue.push(createJob(line, decide, { resolve, reject }))
    if (line.working) return
    line.working = true
    line.idle = work(line)
  })
}

async function work(line: Line): Promise<void> {
  const { queue, lock, sleep, random } = line
  while (queue.length > 0) {
    const hold = await lock.take().catch((error: unknown) => {
      for (const job of queue.splice(0)) job.fail(error)
    })
    // The failed callers may have queued new jobs already.
    if (!hold) continue
    const ended = await share(line, hold)
    // Give other processes the first chance now.
    if (ended && queue.length > 0) await sleep(10 + random() * 10)
  }
  line.working = false
}

/** Runs steps until the queue is empty or the lock was held long enough; false when the lock was abandoned. */
async function share(line: Line, hold: LockHold): Promise<boolean> {
  const { queue, lock, monotonic } = line
  const untilMs = monotonic() + sharedMs
  const inTime = () => monotonic() < untilMs && !hold.isOver()
  for (let job = queue[0]; job; job = queue[0]) {
    const outcome = await job.run(hold, () => queue.length > 1 && inTime())
    if (outcome === 'done' || outcome === 'broken') queue.shift()
    if (outcome === 'broken' || outcome === 'undecided') {
      lock.abandon(hold)
      return false
    }
    if (isReleased(hold)) return true
    if (!inTime()) break
  }
  return release(lock, hold)
}

async function release(lock: Lock, hold: LockHold): Promise<boolean> {
  try {
    if (hold.isOver()) throw new Error('The lock ended before it was released.')
    await lock.write(hold, { held: false })
    return true
  } catch {
    lock.abandon(hold)
    return false
  }
}

function isReleased({ number, record }: LockHold): boolean {
  return record.turn === number && !record.held
}
