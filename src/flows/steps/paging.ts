import { AuthError } from '../../errors.js'

const defaultLimit = 50
const highestLimit = 200

/**
 * How many a page holds.
 *
 * @throws {AuthError} `invalid_request`
 */
export function requireLimit(limit = defaultLimit): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= highestLimit) return limit
  throw malformed('limit', `must be a whole number from 1 to ${highestLimit}`)
}

/** Where a list that runs by time and id goes on. */
export function cursorOf({ createdAt, id }: { createdAt: number; id: string }): string {
  return `${createdAt}.${id}`
}

/** @throws {AuthError} `invalid_request` */
export function readCursor(cursor: string): { createdAt: number; id: string } {
  const [, createdAt, id] = /^(\d{1,12})\.([\w-]{1,64})$/.exec(cursor) ?? []
  if (createdAt === undefined || id === undefined) throw malformedCursor()
  return { createdAt: Number(createdAt), id }
}

export function malformedCursor(): AuthError {
  return malformed('cursor', 'must be the nextCursor of a page')
}

function malformed(path: string, message: string): AuthError {
  return new AuthError('invalid_request', { errors: [{ path, message }] })
}
