import { AuthError } from '../../errors.js'
import type { World } from '../../lib/runtime.js'

/** Who may run: one task a space, and few in all. Others wait in their order. */
export interface Places {
  /**
   * Resolves when the task may run, to its place.
   *
   * @throws {AuthError} `space_busy` when too many tasks of this space wait, or one of them runs for long; `busy` when too many
   *   wait in all, or those that run take long
   */
  take(spaceId: string): Promise<Place>
}

export interface Place {
  /** Whether a task waits that could run in this place. */
  isWanted(): boolean
  /** Frees the place. */
  leave(): void
}

export interface MostPlaces {
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
