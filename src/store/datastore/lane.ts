import { createJob, type Decision, type Job } from './job.js'
import { createTurns, type Turn, type TurnOptions } from './turns.js'

/** A queue in which steps are made one after another, of all processes. */
export interface Lane {
  /** Runs alone of all processes, with the newest time of the lane. May be run again when its turn was over too soon. */
  step<T>(decide: (clockMs: number) => Promise<Decision<T>>): Promise<T>
  /** Runs such that it sees every step whole or not at all. May be run again. */
  read<T>(run: () => Promise<T>): Promise<T>
}

export interface LaneOptions extends TurnOptions {
  randomId(): string
}

/** Steps that wait in this process share a turn for so long; then others get theirs. */
const sharedMs = 200
const readAttempts = 5

export function createLane(name: string, options: LaneOptions): Lane {
  const turns = createTurns(name, options)
  const queue: Job[] = []
  let working = false

  async function work(): Promise<void> {
    while (queue.length > 0) {
      const turn = await turns.take().catch((error: unknown) => {
        for (const job of queue.splice(0)) job.fail(error)
      })
      if (!turn) break
      const used = await share(turn)
      // Others come first now.
      if (used && queue.length > 0) await options.sleep(10 + options.random() * 10)
    }
    working = false
  }

  /** Makes steps until the queue is empty or the turn was long enough; false when the turn was abandoned. */
  async function share(turn: Turn): Promise<boolean> {
    const untilMs = options.monotonic() + sharedMs
    const inTime = () => options.monotonic() < untilMs && !turn.isOver()
    for (let job = queue[0]; job; job = queue[0]) {
      const outcome = await job.run(turn, () => queue.length > 1 && inTime())
      if (outcome === 'done' || outcome === 'broken') queue.shift()
      if (outcome === 'broken' || outcome === 'undecided') {
        turns.abandon(turn)
        return false
      }
      if (isReleased(turn)) return true
      if (!inTime()) break
    }
    return release(turn)
  }

  async function release(turn: Turn): Promise<boolean> {
    try {
      if (turn.isOver()) throw new Error('The turn was over too soon.')
      await turns.write(turn, { held: false })
      return true
    } catch {
      turns.abandon(turn)
      return false
    }
  }

  function enqueue<T>(decide: (clockMs: number) => Promise<Decision<T>>): Promise<T> {
    return new Promise((resolve, reject) => {
      queue.push(createJob({ ...options, turns }, decide, { resolve, reject }))
      if (working) return
      working = true
      void work()
    })
  }

  return {
    step: enqueue,
    async read(run) {
      for (let attempt = 0; attempt < readAttempts; attempt += 1) {
        const before = await turns.read()
        if (!before.journal) {
          const answer = await run()
          const after = await turns.read()
          if (!after.journal && after.journals === before.journals) return answer
        }
        await options.sleep(2 + options.random() * 8)
      }
      return enqueue(async () => ({ answer: await run(), writes: [] }))
    },
  }
}

function isReleased({ number, record }: Turn): boolean {
  return record.turn === number && !record.held
}
