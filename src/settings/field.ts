import { z } from 'zod'
import { parseDuration } from '../lib/duration.js'

/** An object without properties, also without inherited ones, so that a polluted prototype adds no setting. */
export function nothing(): Record<string, never> {
  return Object.create(null)
}

/** A missing value becomes an own property with null. An absent property could be inherited from a polluted prototype. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().transform((value) => value ?? null)
}

/**
 * A text that `parse` reads. If it returns null, the fault has this sentence, or a more exact one from `explain`, which must
 * not quote the text.
 */
export function text<Output>(
  sentence: string,
  parse: (value: string) => Output | null,
  explain: (value: string) => string = () => sentence,
) {
  return z
    .string({ error: unlessMissing(sentence) })
    .transform((value, context) => settled(parse(value), () => explain(value), context))
}

/** A value of the application, a function or an object, that is passed through untouched. */
export function foreign<Value>(sentence: string, check: (value: unknown) => boolean) {
  return z.custom<Value>(check, { error: unlessMissing(sentence) })
}

/** A value of several kinds: `choose` looks at it and names the schema that reads it. */
export function either<Input, Output>(choose: (value: unknown) => z.ZodType<Output>) {
  return z.custom<Input>().transform((value, context): Output => {
    const result = choose(value).safeParse(value, { error: sentenceOf })
    if (result.success) return result.data
    for (const issue of result.error.issues) context.addIssue({ ...issue })
    return z.NEVER
  })
}

/** A list of values of one kind. Default: empty. */
export function list<Output>(one: z.ZodType<Output, string>) {
  return z
    .array(one)
    .readonly()
    .prefault(() => [])
}

/** One value or a list. The result is a list that is not empty and has no repeats. */
export function oneOrMore<Output>(sentence: string, one: z.ZodType<Output, string>) {
  const list = z
    .array(one, { error: sentence })
    .nonempty({ error: 'must not be empty' })
    .transform((items): Output[] => [...new Set(items)])
  return either<string | readonly string[], Output[]>((value) =>
    typeof value === 'string' ? one.transform((item) => [item]) : list,
  )
}

/** A duration within bounds. The result is in seconds. `shortest`: how the sentence writes the lower bound. */
export function duration(least: string, most: string, shortest = least) {
  const minimum = parseDuration(least) ?? 0
  const maximum = parseDuration(most) ?? 0
  return text(`must be a duration such as '15m' or '30d', from ${shortest} to ${most}`, (value) => {
    const seconds = parseDuration(value)
    return seconds === null || seconds < minimum || seconds > maximum ? null : seconds
  })
}

export function wholeNumber(least: number, most: number) {
  const sentence = `must be a whole number from ${least} to ${most}`
  return z
    .number({ error: sentence })
    .int({ error: sentence })
    .min(least, { error: sentence })
    .max(most, { error: sentence })
}

/** A short text for people: a name, a title. */
export function shortText(most: number) {
  return text(`must be a text of 1 to ${most} characters without control characters`, (value) => {
    const trimmed = value.trim()
    return trimmed === '' || trimmed.length > most || /\p{Cc}/u.test(trimmed) ? null : trimmed
  })
}

/** Returns the value, or reports the sentence when it is null. */
export function settled<Value>(
  value: Value | null,
  sentence: string | (() => string),
  context: z.RefinementCtx,
): Value {
  if (value !== null) return value
  context.addIssue({ code: 'custom', message: typeof sentence === 'string' ? sentence : sentence() })
  return z.NEVER
}

function unlessMissing(sentence: string) {
  return (issue: { input: unknown }) => (issue.input === undefined ? 'is required' : sentence)
}

const kinds: Readonly<Record<string, string>> = {
  string: 'must be a text',
  boolean: 'must be true or false',
  number: 'must be a number',
  object: 'must be an object',
  record: 'must be an object',
  array: 'must be a list',
}

/**
 * The sentence of a fault, made from the rule alone. zod's own messages are not used, because they could quote the value of a
 * setting. Each unknown name gets its own line.
 */
export function sentenceOf(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'unrecognized_keys') {
    const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : []
    return issue.keys.map((key) => unknownName(key, known)).join('\n')
  }
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required'
  if (issue.code === 'invalid_type') return kinds[issue.expected] ?? 'is not valid'
  if (issue.code === 'invalid_value') return `must be one of: ${issue.values.join(', ')}`
  return 'is not valid'
}

/** One fault for each path. Several unknown names are several faults. */
export function faultsOf(issue: z.core.$ZodIssue): { path: PropertyKey[]; message: string }[] {
  if (issue.code !== 'unrecognized_keys') return [issue]
  const lines = issue.message.split('\n')
  return issue.keys.map((key, index) => ({ path: [...issue.path, key], message: lines[index] ?? 'is not valid' }))
}

function unknownName(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === null ? 'is not a setting' : `is not a setting; did you mean ${near}?`
}

/**
 * The name that was probably meant: the same letters in another case or with other punctuation, or at most two typing mistakes
 * (fewer in short names). Null if no name is near.
 */
export function nearest(name: string, known: readonly string[]): string | null {
  // Longer than any name of a setting, so no comparison is needed.
  if (name.length > 64) return null
  const bare = lettersOf(name)
  const distances = known.map((candidate) => ({ candidate, slips: distance(bare, lettersOf(candidate)) }))
  const [best] = distances.sort((left, right) => left.slips - right.slips)
  return best && best.slips <= Math.min(2, Math.floor(bare.length / 3)) ? best.candidate : null
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Levenshtein distance: letters to add, drop or replace. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1]
    for (const [column, other] of [...right].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
