import { AuthError } from '../errors.js'

/** Thrown inside a step that may not happen: the step answers so, and nothing has changed. */
export class Refused extends Error {}

/** The address or the identity belongs to another account, or may again. */
export class Taken extends Refused {}

/** What the attempt answers; `taken` or null where it is refused. */
export async function unlessTaken<T>(attempt: () => Promise<T>): Promise<T | 'taken' | null> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof Taken) return 'taken'
    if (error instanceof Refused) return null
    throw error
  }
}

/** A fault of the store. Its cause is kept, so that neither SQL nor a value of a row reaches the message. */
export function unavailable(cause: unknown): AuthError {
  return cause instanceof AuthError ? cause : new AuthError('store_unavailable', { cause, retryAfterSeconds: 1 })
}
