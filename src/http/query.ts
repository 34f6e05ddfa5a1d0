import { invalidField } from '../errors.js'
import type { HttpRequest } from './message.js'

/** The query of a request, as routes read it. */
export interface Query {
  /**
   * The value of a parameter; null where it is absent.
   *
   * @throws {AuthError} `invalid_request` when it comes more than once
   */
  get(name: string): string | null
  /** Whether the parameter is there, with whichever value. */
  has(name: string): boolean
  /** Each value, for a caller that refuses a doubled parameter in its own way. */
  all(name: string): readonly string[]
}

/**
 * The one place that reads a query. A parameter that a route reads and that comes twice is refused, because the first value
 * counts for one reader and the last for another (RFC 6749 §3.1). Forms refuse it too, see body.ts. Parameters that no route
 * reads may come in any number.
 */
export function queryOf({ query }: Pick<HttpRequest, 'query'>): Query {
  const given = new URLSearchParams(query)
  return {
    get(name) {
      const [value = null, ...more] = given.getAll(name)
      if (more.length > 0) throw invalidField(name, 'comes more than once')
      return value
    },
    has: (name) => given.has(name),
    all: (name) => given.getAll(name),
  }
}

/** The query with other values, where null removes a parameter; with its question mark, or empty. */
export function changedQuery(
  { query }: Pick<HttpRequest, 'query'>,
  changes: Readonly<Record<string, string | null>>,
): string {
  const changed = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) changed.delete(name)
    else changed.set(name, value)
  }
  return changed.size === 0 ? '' : `?${changed}`
}
