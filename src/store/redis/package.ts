import { createRequire } from 'node:module'

/** Why the optional package `ioredis` cannot be used here, as an error's code; null when it can. Synchronous, loads nothing. */
export function redisPackageFault(): string | null {
  try {
    createRequire(import.meta.url).resolve('ioredis')
    return null
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be found'
  }
}
