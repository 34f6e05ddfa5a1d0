import { createRequire } from 'node:module'

/**
 * Why the optional package `ioredis` cannot be used here, as an error's code; null when it can. Synchronous, loads nothing.
 *
 * In a bundle nothing is found by its name, and nothing needs to be: what the bundler has followed is there.
 */
export function redisPackageFault(): string | null {
  if (!/\/store\/redis\/package\.[jt]s$/.test(String(import.meta.url))) return null
  try {
    createRequire(import.meta.url).resolve('ioredis')
    return null
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be found'
  }
}
