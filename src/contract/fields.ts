import { z } from 'zod'

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

/** A page of a list, for the reference. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe('For the next page; null on the last.'),
  })
}

/** The length only stops abuse. The real rule is in the flows. */
export const emailField = z.string().max(320).describe('An email address.')

/** Shown on pages and in mails: no control characters, one line. */
export const nameField = z
  .string()
  .max(100)
  .refine((name) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name), 'must be one line of text')
  .transform((name) => name.trim() || null)
  .describe('A name to show. Empty for none.')

export const time = (about: string) => z.iso.datetime().describe(`${about} In UTC.`)

/** A success that only has a status. */
export function statusSchema<Status extends string>(status: Status) {
  return z.object({ status: z.literal(status) })
}
