import { z } from 'zod'
import { parseDuration } from '../lib/duration.js'
import { nearest } from './nearest.js'

/** An object without properties, not even inherited ones: a polluted prototype is no setting. */
export function nothing(): Record<string, never> {
  return Object.create(null)
}

/** Not given is null, an own property: what is absent could be inherited. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().transform((value) => value ?? null)
}

/** A text that `parse` reads; null from it is a fault with that sentence. */
export function text<Output>(sentence: string, parse: (value: string) => Output | null) {
  return z
    .string({ error: unlessMissing(sentence) })
    .transform((value, context) => settled(parse(value), sentence, context))
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

/** Values of one kind, by default none. */
export function list<Output>(one: z.ZodType<Output, string>) {
  return z
    .array(one)
    .readonly()
    .prefault(() => [])
}

/** One value or several: always a list afterwards, without repeats and never empty. */
export function oneOrMore<Output>(sentence: string, one: z.ZodType<Output, string>) {
  const list = z
    .array(one, { error: sentence })
    .nonempty({ error: 'must not be empty' })
    .transform((items): Output[] => [...new Set(items)])
  return either<string | readonly string[], Output[]>((value) =>
    typeof value === 'string' ? one.transform((item) => [item]) : list,
  )
}

/** A duration between two others, in seconds afterwards. `told`: what the sentence calls the least. */
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

/** Gives the value on, or reports the sentence where there is none. */
export function settled<Value>(value: Value | null, sentence: string, context: z.RefinementCtx): Value {
  if (value !== null) return value
  context.addIssue({ code: 'custom', message: sentence })
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
 * What is wrong, from the rule alone: zod's own messages are not used, so that no value of a setting ever gets into one.
 * Of several unknown names each has its own line.
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

/** Each with its own path, also each of several unknown names. */
export function faultsOf(issue: z.core.$ZodIssue): { path: PropertyKey[]; message: string }[] {
  if (issue.code !== 'unrecognized_keys') return [issue]
  const lines = issue.message.split('\n')
  return issue.keys.map((key, index) => ({ path: [...issue.path, key], message: lines[index] ?? 'is not valid' }))
}

function unknownName(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === null ? 'is not a setting' : `is not a setting; did you mean ${near}?`
}
