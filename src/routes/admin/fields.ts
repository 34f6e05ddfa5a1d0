import { invalidField } from '../../errors.js'
import type { HttpRequest } from '../../http/message.js'
import { queryOf } from '../../http/query.js'

/**
 * A query parameter that is not empty.
 *
 * @throws {AuthError} `invalid_request` when it comes more than once: a filter that counts as absent would show more than asked for
 */
export function queryText(request: Pick<HttpRequest, 'query'>, name: string): string | undefined {
  return queryOf(request).get(name) || undefined
}

/** The fields of the query that flows take as they are. Absent ones are left out. */
export function queryFields<Name extends string>(
  request: Pick<HttpRequest, 'query'>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const fields: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = queryText(request, name)
    if (value !== undefined) fields[name] = value
  }
  return fields
}

/** `limit` and `cursor` of a list. A limit that is no number is refused by the flow. */
export function paging(request: Pick<HttpRequest, 'query'>): { limit?: number; cursor?: string } {
  const limit = queryText(request, 'limit')
  return { ...queryFields(request, ['cursor']), ...(limit !== undefined && { limit: Number(limit) }) }
}

/**
 * A query parameter that is one of these words.
 *
 * @throws {AuthError} `invalid_request` for another word
 */
export function queryChoice<Word extends string>(
  request: Pick<HttpRequest, 'query'>,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = queryText(request, name)
  if (value === undefined) return undefined
  const word = words.find((known) => known === value)
  if (word === undefined) {
    throw invalidField(name, `must be one of ${words.join(', ')}`)
  }
  return word
}
