import { AuthError } from '../../errors.js'

/** Who may run: one task a space, and few in all. Others wait in their order. */
export interface Places {
  /**
   * Resolves when the task may run, to the function that frees its place.
   *
   * @throws {AuthError} `space_busy` when too many tasks of this space wait, `busy` when too many wait in all
   */
  take(spaceId: string): Promise<() => void>
}

export interface MostPlaces {
  running: number
  /** Of one space. */
  waitingOfOne: number
  waiting: number
}

interface Waiting {
  spaceId: string
  start(): void
}

export function createPlaces(most: MostPlaces): Places {
  const running = new Set<string>()
  const waiting: Waiting[] = []

  const mayStart = (spaceId: string) => running.size < most.running && !running.has(spaceId)

  function enter(spaceId: string): () => void {
    running.add(spaceId)
    let isFree = false
    return () => {
      if (isFree) return
      isFree = true
      running.delete(spaceId)
      startNext()
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
      if (ofThisSpace >= most.waitingOfOne) {
        const detail = 'Too many queries or imports of this space wait already. Try again when they have ended.'
        throw new AuthError('space_busy', { detail })
      }
      if (waiting.length >= most.waiting) throw new AuthError('busy', { retryAfterSeconds: 5 })
      return new Promise((resolve) => {
        waiting.push({ spaceId, start: () => resolve(enter(spaceId)) })
      })
    },
  }
}
