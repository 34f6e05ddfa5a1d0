import { AuthError } from '../errors.js'

/** For calls that answer false where there is nothing to end. Every other error is thrown on. */
export function missing(error: unknown): false {
  if (error instanceof AuthError && error.code === 'not_found') return false
  throw error
}
