import { type AuthError, invalidField } from '../../errors.js'

const defaultLimit = 50
const highestLimit = 200

/**
 * The size of a page.
 *
 * @throws {AuthError} `invalid_request`
 */
export function requireLimit(limit = defaultLimit, highest = highestLimit): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= highest) return limit
  throw invalidField('limit', `must be a whole number from 1 to ${highest}`)
}

/** The cursor of a list that is ordered by time and id. */
export function cursorOf({ createdAt, id }: { createdAt: number; id: string }): string {
  return `${createdAt}.${id}`
}

/** Where the store has no count, counting by reading stops here. */
const mostRead = 500

/** How many there are of something; `more`: at least so many. */
export interface Count {
  count: number
  more: boolean
}

/** @param exact what the store counted; null: `read` reads up to that many instead */
export async function countOf(
  exact: number | null,
  read: (limit: number) => Promise<readonly unknown[]>,
): Promise<Count> {
  if (exact !== null) return { count: exact, more: false }
  const found = await read(mostRead + 1)
  return { count: Math.min(found.length, mostRead), more: found.length > mostRead }
}

/** @throws {AuthError} `invalid_request` */
export function readCursor(cursor: string): { createdAt: number; id: string } {
  const [, createdAt, id] = /^(\d{1,12})\.([\w-]{1,64})$/.exec(cursor) ?? []
  if (createdAt === undefined || id === undefined) throw malformedCursor()
  return { createdAt: Number(createdAt), id }
}

export function malformedCursor(): AuthError {
  return invalidField('cursor', 'must be the nextCursor of a page')
}

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
