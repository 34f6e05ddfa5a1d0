import { createRequire } from 'node:module'

/**
 * Why an optional package cannot be used here, as an error's code; null when it can. Synchronous, loads nothing.
 *
 * In a bundle nothing is found by its name, and nothing needs to be: what the bundler has followed is there.
 *
 * @example packageFault('pg') // null, or 'MODULE_NOT_FOUND'
 */
export function packageFault(name: string): string | null {
  if (!/\/lib\/package-fault\.[jt]s$/.test(String(import.meta.url))) return null
  try {
    createRequire(import.meta.url).resolve(name)
    return null
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be found'
  }
}
