import { nowSeconds, realMonotonic, type World } from '../lib/runtime.js'
import type { Health } from '../model/health.js'
import type { Passwords } from '../passwords/passwords.js'
import type { Operations } from './measure.js'

/** A check without an answer by then has failed. The whole takes less than two seconds. */
const patienceMs = 1_500
/** Long enough to ignore the pause after a few failures, and to show an outage of the mail server. */
const lateMailSeconds = 15 * 60
/** The size of the queue. When it is full, further requests are refused. */
const fullQueue = 64

/** The part of the opening that the checks need. */
interface Opening {
  live(): { operations: Operations } | null
  ready(): Promise<{ operations: Operations }>
}

interface Asked {
  world: Pick<World, 'now' | 'timer'>
  passwords: Pick<Passwords, 'queued'>
}

/** Concurrent calls share one query to the store. */
export function createHealth(opening: Opening, early: Asked): () => Promise<Health> {
  let asking: Promise<Health> | null = null
  return () => {
    asking ??= ask(opening, early).finally(() => {
      asking = null
    })
    return asking
  }
}

async function ask(opening: Opening, { world, passwords }: Asked): Promise<Health> {
  const hashing = { queued: passwords.queued() }
  const deadline = createDeadline(world.timer)
  try {
    const live = opening.live() ?? (await deadline.before(opening.ready()))
    if (!live) return { ...unopened, hashing }
    const [{ store, outbox }, changeFeed, redis] = await Promise.all([
      askStore(live.operations, world, deadline),
      askFeed(live.operations, deadline),
      askRedis(live.operations, deadline),
    ])
    const found = { store, changeFeed, outbox, hashing, redis }
    return { status: statusOf(found), ...found }
  } finally {
    deadline.cancel()
  }
}

const unopened: Omit<Health, 'hashing'> = {
  status: 'down',
  store: { ok: false, latencyMs: null },
  changeFeed: { fresh: false, ageMs: null },
  outbox: null,
  redis: null,
}

function statusOf({ store, changeFeed, outbox, hashing, redis }: Omit<Health, 'status'>): Health['status'] {
  if (!changeFeed.fresh) return 'down'
  const late = (outbox?.oldestSeconds ?? 0) > lateMailSeconds
  const served = store.ok && redis?.ok !== false && hashing.queued < fullQueue
  return served && !late ? 'ok' : 'degraded'
}

async function askStore(
  { depth }: Operations,
  world: Asked['world'],
  deadline: Deadline,
): Promise<Pick<Health, 'store' | 'outbox'>> {
  const startedMs = realMonotonic()
  const found = await deadline.before(depth())
  if (!found) return { store: { ok: false, latencyMs: null }, outbox: null }
  const latencyMs = Math.round(realMonotonic() - startedMs)
  const { waiting, oldestAt, setAside } = found
  const oldestSeconds = oldestAt === null ? null : Math.max(0, nowSeconds(world) - oldestAt)
  return { store: { ok: true, latencyMs }, outbox: { waiting, oldestSeconds, setAside } }
}

async function askRedis({ pingRedis }: Operations, deadline: Deadline): Promise<Health['redis']> {
  if (pingRedis === null) return null
  const startedMs = realMonotonic()
  const answered = await deadline.before(pingRedis())
  return answered === null
    ? { ok: false, latencyMs: null }
    : { ok: true, latencyMs: Math.round(realMonotonic() - startedMs) }
}

async function askFeed({ isDecisive, feedAgeMs }: Operations, deadline: Deadline): Promise<Health['changeFeed']> {
  const fresh = (await deadline.before(isDecisive())) ?? false
  const ageMs = feedAgeMs()
  return { fresh, ageMs: ageMs === null ? null : Math.round(ageMs) }
}

interface Deadline {
  /** The answer; null when it failed or came too late. */
  before<Answer>(asking: Promise<Answer>): Promise<Answer | null>
  cancel(): void
}

function createDeadline(timer: World['timer']): Deadline {
  let cancel = () => {}
  const over = new Promise<null>((resolve) => {
    cancel = timer(patienceMs, () => resolve(null))
  })
  return {
    before: (asking) => Promise.race([asking.catch(() => null), over]),
    cancel: () => cancel(),
  }
}
