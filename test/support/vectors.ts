import { readFileSync } from 'node:fs'

/** A file of `test/vectors`, taken for what the caller says it is. */
export function readVectors<T>(name: string): T {
  const parsed: T = JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'))
  return parsed
}
