import { usage } from './tool-error.js'

const form = /^[a-z][a-z0-9-]{0,30}$/

/** @throws {ToolError} usage, which names where the name was found */
export function requireSpaceName(name: string, source: string): string {
  if (form.test(name)) return name
  throw usage(`${source} names no space: ${name}. A name has up to 31 of a to z, 0 to 9 and -, the first a letter.`)
}
