import { invalidField } from '../../errors.js'

const form = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

/**
 * Unix milliseconds. A date alone is its start in UTC. A time needs an offset, because it would otherwise mean the zone of
 * the server.
 *
 * @throws {AuthError} `invalid_request`
 * @example requireTime('2026-01-31T12:00:00Z', 'from')
 */
export function requireTime(time: unknown, path: string): number {
  const isTime = time instanceof Date || (typeof time === 'string' && form.test(time))
  const milliseconds = isTime ? new Date(time).getTime() : Number.NaN
  if (!Number.isNaN(milliseconds)) return milliseconds
  const message = 'must be a date like 2026-01-31, or a time like 2026-01-31T12:00:00Z'
  throw invalidField(path, message)
}
