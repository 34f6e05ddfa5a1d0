import type { FieldError } from '../../errors.js'

/** How many variables a space may have, and how long a value may be. */
export interface VariableLimits {
  names: number
  /** Of one value, in UTF-8. */
  valueBytes: number
}

export const defaultVariableLimits: VariableLimits = { names: 100, valueBytes: 32 * 1024 }

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** Variables by which Node or the loader of the system would run other code, or which are ours. */
const reserved = /^(NODE_(?!ENV$)|LD_|PATH$|LATCHKEY_)/

/**
 * What is wrong with a variable that is to be set: its name, its value, or one too many. Empty when nothing is. The messages
 * never show the value.
 *
 * @param present names that the space has
 */
export function variableFaults(
  { name, value }: { name: string; value: string },
  present: readonly string[],
  limits: VariableLimits = defaultVariableLimits,
): FieldError[] {
  const messages = { name: nameFault(name) ?? countFault(name, present, limits), value: valueFault(value, limits) }
  return Object.entries(messages).flatMap(([path, message]) => (message === null ? [] : [{ path, message }]))
}

function nameFault(name: string): string | null {
  if (!namePattern.test(name)) {
    return 'Use 1 to 64 letters, digits and underscores. The first must not be a digit.'
  }
  // Assigned to an object, it would set the prototype and be lost.
  if (name === '__proto__') return 'This name is reserved. Choose another one.'
  if (reserved.test(name)) return 'This name is reserved: NODE_*, except NODE_ENV, LD_*, PATH and LATCHKEY_*.'
  return null
}

function countFault(name: string, present: readonly string[], { names }: VariableLimits): string | null {
  if (present.includes(name) || present.length < names) return null
  return `The space has ${present.length} variables, at most ${names}. Remove one first.`
}

function valueFault(value: string, { valueBytes }: VariableLimits): string | null {
  const bytes = Buffer.byteLength(value)
  if (bytes > valueBytes) return `It has ${bytes} bytes, at most ${valueBytes}.`
  // The environment of a process can hold neither.
  if (value.includes('\0')) return 'It holds a NUL character. Encode the value, for example in base64.'
  if (Buffer.from(value).toString() !== value) return 'It is no valid Unicode. Encode the value, for example in base64.'
  return null
}
