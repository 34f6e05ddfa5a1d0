import { sha256 } from '../lib/digest.js'
import { coarseNetwork, limitKey } from '../lib/ip-address.js'
import { createRecent } from '../lib/recent.js'
import type { CounterHit, CounterRule, Hit } from '../model/counter.js'
import type { LimitKind, Settings } from '../settings.js'
import type { Limiter, LimitVerdict, RequestedMail } from './limiter.js'
import { type MailRules, policiesOf } from './policies.js'

/** The part of the store that a limiter needs. `store/counters.ts` documents the methods. */
export interface CounterRows {
  hit(id: string, rule: CounterRule, now: number): Promise<Hit>
  hitTogether(hits: readonly CounterHit[], now: number): Promise<number | null>
  forget(ids: readonly string[]): Promise<void>
}

export interface LimiterOptions {
  counters: CounterRows
  limits: Settings['limits']
  /** Unix seconds. */
  now(): number
}

/** The longest wait that a response names, however long the window is. */
const longestRetrySeconds = 24 * 60 * 60

/** A notice counts once for as long as its delivery is retried. */
const seenNotice = { limit: 1, windowSeconds: 4 * 24 * 60 * 60 }

/** How many full counters a process remembers: about 2 MB. */
const mostFull = 10_000

/**
 * The limiter over the store's counters, which all processes share. A counter that is full is remembered until its window ends, so
 * a flood of refused requests does not reach the store.
 */
export function createLimiter({ counters, limits, now }: LimiterOptions): Limiter {
  if (limits === null) return unlimited
  const policies = policiesOf(limits)
  const fullUntil = createRecent<number>(mostFull)

  function remembered(id: string, rule: CounterRule): LimitVerdict | null {
    const at = now()
    const until = fullUntil.get(id) ?? 0
    return until <= at ? null : verdictOf(rule, { counted: false, remaining: 0, resetsAt: until }, at)
  }

  async function count(id: string, rule: CounterRule): Promise<LimitVerdict> {
    const refused = remembered(id, rule)
    if (refused !== null) return refused
    const at = now()
    const hit = await counters.hit(id, rule, at)
    if (!hit.counted && onlyTimeOpens(rule)) fullUntil.set(id, hit.resetsAt)
    return verdictOf(rule, hit, at)
  }

  return {
    request: (kind, ip) => count(idOfAddress(kind, ip), policies.ip[kind]),
    known: (kind, credential) => count(idOf(`${kind} known`, credential), policies.ip[kind]),
    refusedRequest: (kind, ip) => remembered(idOfAddress(kind, ip), policies.ip[kind]),
    account: (kind, subject) => count(idOf(`${kind} account`, subject), policies.account[kind]),
    async mail(mail) {
      const at = now()
      const opensAt = await counters.hitTogether(mailHits(mail, policies.mail), at)
      return opensAt === null ? null : secondsUntil(opensAt, at)
    },
    async notice({ id, kind, address }) {
      const at = now()
      const first = await counters.hit(idOf('notice seen', id), seenNotice, at)
      if (!first.counted) return 'send'
      const { counted, resetsAt } = await counters.hit(idOf(`notice ${kind}`, address), policies.notice, at)
      if (counted) return 'send'
      // `counted` is exact under concurrency, so exactly one notice of the window becomes the one that sums up.
      const summary = { limit: 1, windowSeconds: policies.notice.windowSeconds }
      const next = await counters.hit(idOf(`notice summary ${kind} ${resetsAt}`, address), summary, at)
      return next.counted ? { sumUpUntil: resetsAt } : 'drop'
    },
    async forget(kind, subjects) {
      await counters.forget(subjects.map((subject) => idOf(`${kind} account`, subject)))
    },
    async factor(userId) {
      const { count, all } = factorIds(userId)
      const at = now()
      const hits = [
        { id: count, rule: policies.account.guess },
        { id: all, rule: policies.factorGuesses },
      ]
      const opensAt = await counters.hitTogether(hits, at)
      return opensAt === null ? null : secondsUntil(opensAt, at)
    },
    forgetFactor: (userId) => counters.forget(Object.values(factorIds(userId))),
    reopenFactor: (userId) => counters.forget([factorIds(userId).count]),
  }
}

/** The count that a proof of the mailbox opens anew, and that of all guesses. They are one group. */
function factorIds(userId: string): { count: string; all: string } {
  const group = idOf('factor', userId)
  return { count: `${group}.count`, all: `${group}.all` }
}

/** Successes empty the counters of failures, perhaps in another process; those have a wait and a long window. */
function onlyTimeOpens({ waitSeconds, long }: CounterRule): boolean {
  return waitSeconds === undefined && long === undefined
}

function verdictOf({ limit, windowSeconds }: CounterRule, hit: Hit, at: number): LimitVerdict {
  return {
    allowed: hit.counted,
    limit: { count: limit, windowSeconds },
    remaining: hit.remaining,
    resetSeconds: secondsUntil(hit.resetsAt, at),
  }
}

const unlimited: Limiter = {
  request: async () => null,
  known: async () => null,
  refusedRequest: () => null,
  account: async () => null,
  mail: async () => null,
  notice: async () => 'send',
  forget: async () => {},
  factor: async () => null,
  forgetFactor: async () => {},
  reopenFactor: async () => {},
}

function secondsUntil(time: number, now: number): number {
  return Math.min(Math.max(time - now, 1), longestRetrySeconds)
}

/** The counters of a mail. All of one purpose and address are one group, so that they can be counted together. */
function mailHits({ purpose, address, known, ip }: RequestedMail, rules: MailRules): CounterHit[] {
  const group = idOf(`mail ${purpose}`, address)
  const counterOf = (subject: string) => `${group}.${sha256(subject).slice(0, 20)}`
  if (known !== null && 'deviceId' in known) {
    return [{ id: counterOf(`device ${known.deviceId}`), rule: rules.device }]
  }
  if (known !== null) {
    // The mail goes to an address that the account does not have. Without a total, many accounts could flood it.
    return [
      { id: counterOf(`account ${known.accountId}`), rule: rules.device },
      { id: `${group}.accounts`, rule: rules.total },
    ]
  }
  const network = coarseNetwork(ip) ?? 'unknown'
  return [
    { id: counterOf(`network ${network}`), rule: rules.network },
    { id: `${group}.total`, rule: rules.total },
  ]
}

function idOfAddress(kind: LimitKind, ip: string): string {
  return idOf(`${kind} ip`, limitKey(ip))
}

/**
 * Bounds the length of what strangers type. It is not keyed: a new `encryptionKey` must not reset full counters, nor give every
 * process of a rolling restart counters of its own.
 */
function idOf(name: string, subject: string): string {
  return sha256(`${name}\n${subject}`)
}
