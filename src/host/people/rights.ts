import { storeUnavailable } from '../../errors.js'
import type { Change } from '../../model/change.js'
import type { Right } from '../../model/right.js'
import type { Ports } from '../../ports.js'
import type { CountedRights, Rights } from '../store/people.js'

export interface RightsOptions {
  projectRights: Pick<Rights, 'counted'>
  /** The change feed; null: there may be a gap. */
  subscribe(listener: (change: Change | null) => void): void
  clock: Pick<Ports['clock'], 'now'>
  timer(milliseconds: number, callback: () => void): () => void
}

/** The rights that count, in memory. */
export interface RightsMemory {
  rights: Ports['rights']
  /** Whether admin tokens of that account or team work. @throws {AuthError} `store_unavailable` */
  isAdmin(owner: { userId: string } | { teamId: string }): boolean
  /** Resolves when every change that this process knows of is in force here. Never rejects. */
  inForce(): Promise<void>
  close(): void
}

interface UserRights {
  right: Right
  disabledAt: number | null
  disabledUntil: number | null
}

/** null: the last read failed, so no request may be decided by an older state. */
type Known = { users: ReadonlyMap<string, UserRights>; teams: ReadonlyMap<string, Right> } | null

/** The pause after a failed read. */
const retryMs = 400

/**
 * Loads the rights and keeps them current: a change of a right or an account and a gap of the feed make it read again.
 * While a read is under way, the former state decides; the feed and a read together stay below a second.
 *
 * @throws {AuthError} `store_unavailable` when the first read fails
 */
export async function createRightsMemory(options: RightsOptions): Promise<RightsMemory> {
  const { projectRights, subscribe, clock } = options
  const state: { known: Known } = { known: null }
  const reading = createReading(options, async () => {
    try {
      state.known = understood(await projectRights.counted())
    } catch (error) {
      state.known = null
      throw error
    }
  })
  subscribe((change) => {
    if (change === null || change.kind === 'right' || change.kind === 'user') reading.again()
  })
  state.known = understood(await projectRights.counted())

  function known(): NonNullable<Known> {
    if (state.known === null) throw storeUnavailable(new Error('The rights could not be read.'))
    return state.known
  }

  function rightOf(userId: string): Right | null {
    const user = known().users.get(userId)
    return user === undefined || isDisabled(user, clock.now()) ? null : user.right
  }

  return {
    rights: { of: ({ userId, emailVerified }) => (emailVerified ? rightOf(userId) : null) },
    isAdmin: (owner) =>
      'userId' in owner ? rightOf(owner.userId) === 'ADMIN' : known().teams.get(owner.teamId) === 'ADMIN',
    inForce: reading.settled,
    close: reading.close,
  }
}

interface Reading {
  /** Reads once more. A read that is under way may have begun before the change. */
  again(): void
  /** Resolves when a read has ended that began after every change so far, or a read failed. */
  settled(): Promise<void>
  close(): void
}

function createReading({ timer }: Pick<RightsOptions, 'timer'>, read: () => Promise<void>): Reading {
  let wanted = 0
  let done = 0
  let isReading = false
  let waiting: { mark: number; resolve: () => void }[] = []
  let cancelRetry = () => {}
  let closed = false

  function release(upTo: number): void {
    for (const { mark, resolve } of waiting) if (mark <= upTo) resolve()
    waiting = waiting.filter(({ mark }) => mark > upTo)
  }

  async function readAll(): Promise<void> {
    isReading = true
    try {
      while (done < wanted && !closed) {
        const mark = wanted
        await read()
        done = mark
        release(done)
      }
    } catch {
      if (!closed) cancelRetry = timer(retryMs, start)
    }
    isReading = false
    release(wanted)
  }

  function start(): void {
    cancelRetry()
    if (!isReading) void readAll()
  }

  return {
    again() {
      wanted += 1
      start()
    },
    settled: () =>
      new Promise((resolve) => {
        if (isReading && done < wanted) waiting.push({ mark: wanted, resolve })
        else resolve()
      }),
    close() {
      closed = true
      cancelRetry()
    },
  }
}

/** An account has the higher of its rights. */
function understood({ users, teams }: CountedRights): NonNullable<Known> {
  const highest = new Map<string, UserRights>()
  for (const { userId, ...rights } of users) {
    if (highest.get(userId)?.right !== 'ADMIN') highest.set(userId, rights)
  }
  return { users: highest, teams: new Map(teams.map(({ id, right }) => [id, right])) }
}

function isDisabled({ disabledAt, disabledUntil }: UserRights, now: number): boolean {
  return disabledAt !== null && (disabledUntil === null || disabledUntil > now)
}
