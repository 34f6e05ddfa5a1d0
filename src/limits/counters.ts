import { createHash } from 'node:crypto'
import { limitKey } from '../lib/ip-address.js'
import type { CounterRule, Hit } from '../model/counter.js'
import type { Settings } from '../settings.js'
import type { Limiter, LimitVerdict } from './limiter.js'
import { policiesOf } from './policies.js'

/** The part of the store that a limiter needs; its promises stand at `store/counters.ts`. */
export interface CounterRows {
  hit(id: string, rule: CounterRule, now: number): Promise<Hit>
  forget(ids: readonly string[]): Promise<void>
}

export interface LimiterOptions {
  counters: CounterRows
  limits: Settings['limits']
  /** Unix seconds. */
  now(): number
}

/** Nobody is told to come back in a year. */
const longestRetrySeconds = 24 * 60 * 60

/** The limiter over the store's counters, which all processes share. */
export function createLimiter({ counters, limits, now }: LimiterOptions): Limiter {
  if (limits === null) return unlimited
  const policies = policiesOf(limits)

  async function count(name: string, subject: string, rule: CounterRule): Promise<LimitVerdict> {
    const at = now()
    const hit = await counters.hit(idOf(name, subject), rule, at)
    return {
      allowed: hit.counted,
      limit: { count: rule.limit, windowSeconds: rule.windowSeconds },
      remaining: hit.remaining,
      resetSeconds: Math.min(Math.max(hit.resetsAt - at, 1), longestRetrySeconds),
    }
  }

  return {
    request: (kind, ip) => count(`${kind} ip`, limitKey(ip), policies.ip[kind]),
    account: (kind, subject) => count(`${kind} account`, subject, policies.account[kind]),
    forget: (kind, subjects) => counters.forget(subjects.map((subject) => idOf(`${kind} account`, subject))),
  }
}

const unlimited: Limiter = {
  request: async () => null,
  account: async () => null,
  forget: async () => {},
}

/**
 * Bounds the length of what strangers type. Not keyed: a new `encryptionKey` must not open what is closed, nor give
 * every instance of a rolling restart counters of its own.
 */
function idOf(name: string, subject: string): string {
  return createHash('sha256').update(`${name}\n${subject}`).digest('base64url')
}
