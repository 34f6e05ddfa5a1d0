import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parseJsonObject } from '../lib/json-object.js'

/** The version of this package. */
export function version(): string {
  const { resolve } = createRequire(import.meta.url)
  const { version: text } = parseJsonObject(readFileSync(resolve('latchkey/package.json'), 'utf8')) ?? {}
  return typeof text === 'string' ? text : 'unknown'
}
