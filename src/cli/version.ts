import { readFileSync } from 'node:fs'
import { parseJsonObject } from '../lib/json-object.js'

/** The version of this package. `package.json` is as far from `src/cli` as from `dist/cli`. */
export function version(): string {
  const { version: text } = parseJsonObject(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) ?? {}
  return typeof text === 'string' ? text : 'unknown'
}
