import { coalesced } from '../lib/coalesce.js'
import type { Reading, SharedClock } from '../lib/shared-clock.js'
import type { Change } from '../model/change.js'
import { longestAccessTokenSeconds } from '../settings/lifetimes.js'
import type { Logger } from '../settings.js'
import type { ChangePage, Changes } from '../store/changes.js'

export interface RevocationsOptions {
  changes: Pick<Changes, 'recent' | 'current'>
  /** Learns the store's time with each read. */
  clock: SharedClock
  timer: (milliseconds: number, callback: () => void) => () => void
  /** How long an access token counts in this process, however long other processes sign theirs for. */
  accessTokenSeconds: number
  /** When revocation data is older than this, no request passes. */
  stalenessSeconds: number
  logger: Logger
}

/** Ended sessions and revoked access tokens that this process knows of. Every request asks, without I/O. */
export interface Revocations {
  /** Loads every row that still matters and starts to follow the feed. */
  start(): Promise<void>
  /** Applies a row that this process itself wrote. */
  apply(change: Change): void
  /** Whether revocation data is fresh, now or at a moment just read. */
  isFresh(at?: Reading): boolean
  /** Another process wrote a row: reads now. Many calls share few reads. Optional, since the feed is polled anyway. */
  wake(): void
  /** Milliseconds since the start of the last good read, by whichever clock shows more; null before the first. */
  ageMs(): number | null
  /** Reads once and waits at most half a second. Resolves to whether revocation data is fresh. */
  catchUp(): Promise<boolean>
  /** Calls back once per change, and with null after a possible gap: then every cached value may be outdated. */
  subscribe(listener: Listener): void
  /** Calls this listener no more. */
  unsubscribe(listener: Listener): void
  isEnded(sessionId: string): boolean
  /** The version below which that user's access tokens are dead; 0 when none is known to be. */
  deadBelow(userId: string): number
  close(): void
}

export type Listener = (change: Change | null) => void

/** How often the feed is read. */
const pollMs = 400
/** How far back a read goes after another process's signal: that row was committed just now. */
const wakeWindowMs = 5_000
/** The pause between such reads is at least this, */
const wakeGapMs = 25
/** and this many times the duration of the last one, so that a burst of changes causes no burst of reads. */
const wakeGapShare = 4
/** How far back each read looks, by the store's clock, so that rows which commit late or out of order are seen. */
const windowMs = 60_000
/** A gap this long between two good reads may hide rows that the window no longer shows. */
const holeMs = windowMs - 10_000
/** How long a request of a paused process waits for fresh data before it is refused. */
const catchUpMs = 500
/** How often entries that no longer matter are deleted. */
const forgetEveryMs = 60_000

interface Progress {
  lastRead: Reading | null
  lastPage: Pick<ChangePage, 'storeNowMs' | 'headMs'> | null
  reading: Promise<void> | null
  stopTimer: () => void
  closed: boolean
  forgotAtMs: number
  failing: boolean
}

interface Knowledge {
  /** Row id → the store's time of the row. Each row is applied once. */
  applied: Map<string, number>
  /** Session id → until when (Unix seconds) it matters. */
  sessions: Map<string, number>
  /** User id → below which version tokens are dead, and until when that matters. */
  users: Map<string, { version: number; until: number }>
  listeners: Listener[]
  /** Rows name a time for the longest possible token lifetime. In this process they stop mattering this much sooner. */
  soonerSeconds: number
}

export function createRevocations(options: RevocationsOptions): Revocations {
  const known: Knowledge = {
    applied: new Map(),
    sessions: new Map(),
    users: new Map(),
    listeners: [],
    soonerSeconds: longestAccessTokenSeconds - options.accessTokenSeconds,
  }
  const progress: Progress = {
    lastRead: null,
    lastPage: null,
    reading: null,
    stopTimer: () => {},
    closed: false,
    forgotAtMs: options.clock.monotonicMs(),
    failing: false,
  }
  const poll = () => {
    progress.stopTimer = options.timer(pollMs, () => {
      read(options, known, progress).then(
        () => progress.closed || poll(),
        () => progress.closed || poll(),
      )
    })
  }
  return {
    async start() {
      await read(options, known, progress)
      if (!progress.closed) poll()
    },
    apply: (change) => learn(known, change),
    subscribe: (listener) => void known.listeners.push(listener),
    unsubscribe(listener) {
      known.listeners = known.listeners.filter((other) => other !== listener)
    },
    isFresh: (at = options.clock.moment()) => isFresh(options, progress.lastRead, at),
    wake: createWaking(options, known, progress),
    ageMs: () => ageMs(options, progress.lastRead),
    async catchUp() {
      await soonOrNever(options, read(options, known, progress))
      return isFresh(options, progress.lastRead, options.clock.moment())
    },
    isEnded: (sessionId) => known.sessions.has(sessionId),
    deadBelow: (userId) => known.users.get(userId)?.version ?? 0,
    close() {
      progress.closed = true
      progress.stopTimer()
    },
  }
}

/**
 * Age counts from the start of the last good read, by the wall or the monotonic clock, whichever shows more. When a clock
 * went back, or the two drifted apart, the data counts as stale.
 */
function isFresh({ stalenessSeconds }: RevocationsOptions, lastRead: Reading | null, at: Reading): boolean {
  if (lastRead === null) return false
  const limitMs = stalenessSeconds * 1000
  const wallAge = at.wallMs - lastRead.wallMs
  const monotonicAge = at.monotonicMs - lastRead.monotonicMs
  if (wallAge < 0 || monotonicAge < 0) return false
  if (wallAge > limitMs || monotonicAge > limitMs) return false
  return Math.abs(wallAge - monotonicAge) <= limitMs
}

/**
 * Reads only the newest rows, so that busy processes do not make each other read the whole last minute. It does not affect
 * freshness: gaps and late commits are left to the poll.
 */
function createWaking({ changes, clock, timer }: RevocationsOptions, known: Knowledge, progress: Progress): () => void {
  let gapMs = wakeGapMs

  async function look(): Promise<void> {
    if (progress.closed || progress.lastPage === null) return
    const startedMs = clock.monotonicMs()
    const page = await changes.recent(wakeWindowMs)
    applyNew(known, page)
    gapMs = Math.min(Math.max(wakeGapMs, wakeGapShare * (clock.monotonicMs() - startedMs)), pollMs)
  }

  return coalesced(look, (next) => void timer(gapMs, next))
}

function ageMs({ clock }: RevocationsOptions, lastRead: Reading | null): number | null {
  if (lastRead === null) return null
  return Math.max(0, clock.wallMs() - lastRead.wallMs, clock.monotonicMs() - lastRead.monotonicMs)
}

/** One read at a time, which concurrent callers share. Rejects when the store does not answer. */
function read(options: RevocationsOptions, known: Knowledge, progress: Progress): Promise<void> {
  progress.reading ??= readOnce(options, known, progress)
    .then(
      () => report(options, progress, null),
      (error) => {
        report(options, progress, error)
        throw error
      },
    )
    .finally(() => {
      progress.reading = null
    })
  return progress.reading
}

async function readOnce(options: RevocationsOptions, known: Knowledge, progress: Progress): Promise<void> {
  const { changes, clock } = options
  const started = clock.moment()
  let page = await changes.recent(windowMs)
  // Before the next query: a clock that runs ahead would find that no row matters.
  clock.learn(page.storeNowMs)
  const hole = hasHole(progress, page, started)
  if (hole) {
    page = await changes.current(clock.now() + known.soonerSeconds)
    for (const notify of known.listeners) notify(null)
  }

  applyNew(known, page)
  progress.lastPage = { storeNowMs: page.storeNowMs, headMs: page.headMs }
  progress.lastRead = started
  forget(options, known, progress)
}

/** Whether rows may have left the window unseen since the last good read, or the store was restored from a backup. */
function hasHole({ lastPage, lastRead }: Progress, page: ChangePage, started: Reading): boolean {
  if (lastPage === null || lastRead === null) return true
  const storeGap = page.storeNowMs - lastPage.storeNowMs
  const ownGap = started.monotonicMs - lastRead.monotonicMs
  if (storeGap < 0 || storeGap > holeMs || ownGap > holeMs) return true
  return lastPage.headMs !== null && (page.headMs ?? Number.NEGATIVE_INFINITY) < lastPage.headMs
}

function applyNew(known: Knowledge, { changes }: ChangePage): void {
  for (const change of changes) {
    if (!known.applied.has(change.id)) learn(known, change)
  }
}

function learn(known: Knowledge, change: Change): void {
  known.applied.set(change.id, change.atMs)
  if (change.kind === 'session') {
    known.sessions.set(
      change.subject,
      Math.max(change.until - known.soonerSeconds, known.sessions.get(change.subject) ?? 0),
    )
  }
  if (change.kind === 'user') learnOfUser(known, change)
  for (const notify of known.listeners) notify(change)
}

function learnOfUser(known: Knowledge, change: Change): void {
  const before = known.users.get(change.subject)
  known.users.set(change.subject, {
    version: Math.max(change.version ?? 0, before?.version ?? 0),
    until: Math.max(change.until - known.soonerSeconds, before?.until ?? 0),
  })
}

/** Deletes entries that no longer matter from memory. In the store, housekeeping does it. */
function forget({ clock }: RevocationsOptions, known: Knowledge, progress: Progress): void {
  if (clock.monotonicMs() - progress.forgotAtMs < forgetEveryMs) return
  progress.forgotAtMs = clock.monotonicMs()
  const now = clock.now()
  for (const [id, until] of known.sessions) if (until <= now) known.sessions.delete(id)
  for (const [id, user] of known.users) if (user.until <= now) known.users.delete(id)
  const oldest = (progress.lastPage?.storeNowMs ?? 0) - 2 * windowMs
  for (const [id, atMs] of known.applied) if (atMs < oldest) known.applied.delete(id)
}

/** Logs once that the feed fails, and once that it is back. */
function report({ logger, stalenessSeconds }: RevocationsOptions, progress: Progress, error: unknown): void {
  const failing = error !== null
  if (failing === progress.failing) return
  progress.failing = failing
  const fields = { event: 'change_feed', stalenessSeconds, error: error instanceof Error ? error.name : null }
  if (failing)
    logger.error(
      fields,
      'The change feed cannot be read. Guarded requests get 503 once it is stale. Check the database.',
    )
  else logger.warn(fields, 'The change feed can be read again.')
}

function soonOrNever({ timer }: RevocationsOptions, reading: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const stop = timer(catchUpMs, resolve)
    const finish = () => {
      stop()
      resolve()
    }
    reading.then(finish, finish)
  })
}
