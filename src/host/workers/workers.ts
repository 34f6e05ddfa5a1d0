import { AuthError } from '../../errors.js'
import type { World } from '../../lib/runtime.js'
import { unavailable } from '../storage/messages.js'
import type { SpaceData } from '../storage/space.js'
import { type Job, startJob } from './job.js'
import { isFull } from './read-ahead.js'
import type { Task } from './tasks.js'

interface WorkersOptions {
  /** mingo's CommonJS build. */
  mingo: string
  /** Default: the program beside this module. Tests pass a bundle of it. */
  program?: URL
  literalDots: boolean
  documentBytes: number
  timer: World['timer']
  /** How long a query may run. Default: 30 s. */
  queryMs?: number
  /** For the log of the host: why a worker ended early, as its exit code or signal. */
  onFault(fault: { spaceId: string; reason: string }): void
}

/** The space that a task works in. */
interface TaskSpace {
  id: string
  data: Pick<SpaceData, 'answer'>
}

/** Processes in which queries and imports of the control API run, each in one of its own. */
export interface Workers {
  /**
   * Starts a task when its space and the host have a place for it: one query and one import a space, in all two
   * queries and four imports. Its end frees the place, also when its rows are still to be read. A query whose rows are read too
   * slowly while another one waits ends as `busy`.
   *
   * @param pieces the upload of an import
   * @throws {AuthError} `space_busy`, `busy`
   * @throws {StoreError} `store_unavailable` after `close`
   */
  start(space: TaskSpace, task: Task, pieces?: AsyncIterable<Uint8Array>): Promise<Job>
  /** Ends all tasks. Those that wait do not start. */
  close(): Promise<void>
}

const most: Record<Task['kind'], MostPlaces> = {
  // nginx gives up after 60 s: it gets an answer before.
  query: { running: 2, waitingOfOne: 4, waiting: 16, waitMs: 45_000 },
  // It was received whole and its answer has begun. As many wait as may be uploaded at once.
  import: { running: 4, waitingOfOne: 16, waiting: 64, waitMs: 600_000 },
}
const defaultQueryMs = 30_000

export function createWorkers(options: WorkersOptions): Workers {
  const program = options.program ?? new URL('./program/main.js', import.meta.url)
  const places: Record<Task['kind'], Places> = {
    query: createPlaces(most.query, options.timer),
    import: createPlaces(most.import, options.timer),
  }
  const jobs = new Set<Job>()
  const held = { characters: 0 }
  let isClosed = false

  return {
    async start(space, task, pieces) {
      if (task.kind === 'query' && isFull(held)) throw busy()
      const place = await places[task.kind].take(space.id)
      const { mingo, literalDots, documentBytes, timer, queryMs = defaultQueryMs } = options
      try {
        if (isClosed) throw unavailable()
        const job = startJob({
          ...{ program, timer, isPlaceWanted: place.isWanted },
          // An import has no rows to read.
          held: task.kind === 'query' ? held : { characters: 0 },
          start: { task, mingo, literalDots, documentBytes },
          answers: space.data,
          pieces: pieces ?? null,
          mostMs: task.kind === 'query' ? queryMs : null,
          onFault: (reason) => options.onFault({ spaceId: space.id, reason }),
          onEnd() {
            jobs.delete(job)
            place.leave()
          },
        })
        jobs.add(job)
        return job
      } catch (error) {
        place.leave()
        throw error
      }
    },
    async close() {
      isClosed = true
      await Promise.all([...jobs].map((job) => job.stop()))
    },
  }
}

/** Who may run: one task a space, and few in all. Others wait in their order. */
interface Places {
  /**
   * Resolves when the task may run, to its place.
   *
   * @throws {AuthError} `space_busy` when too many tasks of this space wait, or one of them runs for long; `busy` when too many
   *   wait in all, or those that run take long
   */
  take(spaceId: string): Promise<Place>
}

interface Place {
  /** Whether a task waits that could run in this place. */
  isWanted(): boolean
  /** Frees the place. */
  leave(): void
}

interface MostPlaces {
  running: number
  /** Of one space. */
  waitingOfOne: number
  waiting: number
  waitMs: number
}

interface Waiting {
  spaceId: string
  start(): void
}

export function createPlaces(most: MostPlaces, timer: World['timer']): Places {
  const running = new Set<string>()
  const waiting: Waiting[] = []

  const mayStart = (spaceId: string) => running.size < most.running && !running.has(spaceId)

  function enter(spaceId: string): Place {
    running.add(spaceId)
    let isFree = false
    return {
      isWanted: () => waiting.some((each) => each.spaceId === spaceId || !running.has(each.spaceId)),
      leave() {
        if (isFree) return
        isFree = true
        running.delete(spaceId)
        startNext()
      },
    }
  }

  function startNext(): void {
    const at = waiting.findIndex(({ spaceId }) => mayStart(spaceId))
    const [next] = at === -1 ? [] : waiting.splice(at, 1)
    next?.start()
  }

  return {
    async take(spaceId) {
      if (mayStart(spaceId)) return enter(spaceId)
      const ofThisSpace = waiting.filter((each) => each.spaceId === spaceId).length
      if (ofThisSpace >= most.waitingOfOne) throw spaceBusy('Too many queries or imports of this space wait already.')
      if (waiting.length >= most.waiting) throw busy()
      return new Promise((resolve, reject) => {
        const cancel = timer(most.waitMs, () => {
          waiting.splice(waiting.indexOf(own), 1)
          reject(running.has(spaceId) ? spaceBusy('Another query or import of this space takes long.') : busy())
        })
        const start = () => {
          cancel()
          resolve(enter(spaceId))
        }
        const own: Waiting = { spaceId, start }
        waiting.push(own)
      })
    },
  }
}

function spaceBusy(why: string): AuthError {
  return new AuthError('space_busy', { detail: `${why} Try again later.` })
}

function busy(): AuthError {
  return new AuthError('busy', { retryAfterSeconds: 5 })
}
