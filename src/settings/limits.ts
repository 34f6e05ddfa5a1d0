import { z } from 'zod'
import { parseDuration } from '../lib/duration.js'

import { nothing, text } from './field.js'

/** One number and window of a limit: `'30/1m'`. */
export interface Limit {
  count: number
  windowSeconds: number
}

/** The kinds of requests. */
export type LimitKind = 'login' | 'mail' | 'guess' | 'refresh' | 'apiToken' | 'adminToken' | 'admin' | 'other'

/** How many in which time, for one IP address (IPv6: one /64) and one account, where these apply. */
const standard = {
  login: { ip: '30/1m', account: '10/15m' },
  mail: { ip: '10/1m', account: '3/15m' },
  guess: { ip: '30/1m', account: '20/1h' },
  refresh: { ip: '120/1m' },
  apiToken: { ip: '30/1m' },
  adminToken: { ip: '30/1m' },
  admin: { ip: '600/1m', account: '600/1m' },
  other: { ip: '300/1m' },
  notice: { account: '3/1h' },
} as const

const maxWindowSeconds = 7 * 86_400
const limit = text("must be a number and a time such as '30/1m', at most 1000000 in 7d", parseLimit)

/** Kinds and numbers that are not named keep their defaults. */
export const limits = z.strictObject({
  login: both(standard.login),
  mail: both(standard.mail),
  guess: both(standard.guess),
  refresh: perIp(standard.refresh),
  apiToken: perIp(standard.apiToken),
  adminToken: perIp(standard.adminToken),
  admin: both(standard.admin),
  other: perIp(standard.other),
  notice: z.strictObject({ account: limit.prefault(standard.notice.account) }).prefault(nothing),
})

function both(numbers: { ip: string; account: string }) {
  const kind = z.strictObject({ ip: limit.prefault(numbers.ip), account: limit.prefault(numbers.account) })
  return kind.prefault(nothing)
}

function perIp(numbers: { ip: string }) {
  const kind = z.strictObject({ ip: limit.prefault(numbers.ip) })
  return kind.transform(({ ip }) => ({ ip, account: null })).prefault(nothing)
}

/** Reads `'30/1m'`: up to a million, in at most seven days. */
function parseLimit(text: string): Limit | null {
  const [, count, window] = /^([1-9]\d{0,5}|1000000)\/(\w+)$/.exec(text) ?? []
  const windowSeconds = parseDuration(window)
  if (count === undefined || windowSeconds === null || windowSeconds > maxWindowSeconds) return null
  return { count: Number(count), windowSeconds }
}
