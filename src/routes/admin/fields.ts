import { z } from 'zod'
import { invalidField } from '../../errors.js'
import type { HttpRequest } from '../../http/message.js'
import { queryOf } from '../../http/query.js'

/** A list in JSON; in a form, one entry a line. */
export const listField = z.union([
  z.array(z.string()).max(100),
  z.string().transform((text) => text.split(/[\s,]+/).filter((entry) => entry !== '')),
])

/** A list that may be left out; a form sends an empty field then. An empty list of a program stays one. */
export function optionalList<Item extends z.ZodType<string, string>>(item: Item) {
  const inForm = z.string().transform((text) => text.split(/[\s,]+/).filter((entry) => entry !== ''))
  const entries = z.array(item).max(100)
  return z.union([entries, z.literal('').transform(() => undefined), inForm.pipe(entries)]).optional()
}

/** A text that may be left out; a form sends an empty field then. */
export const optionalText = z
  .string()
  .max(1024)
  .optional()
  .transform((text) => (text === '' ? undefined : text))

/** true or false; a form sends `on` for a ticked box and nothing for an empty one. */
export const flagField = z.union([z.boolean(), z.enum(['on', 'true', 'false']).transform((text) => text !== 'false')])

/** A duration such as `1d`. */
export const durationField = z.templateLiteral([z.int().positive(), z.enum(['s', 'm', 'h', 'd', 'w'])])

export const confirmField = optionalText.describe('Repeats what is about to be lost.')

/** The query parameters of every list. */
export const pagingQuery = {
  limit: 'How many, 1 to 200. Default: 50.',
  cursor: '`nextCursor` of the page before.',
}

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

/** A page of a list, for the reference. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe('For the next page; null on the last.'),
  })
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
