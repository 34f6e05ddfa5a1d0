import { AuthError, storeUnavailable } from '../errors.js'

/** Thrown inside a step that must not happen. The step then returns its refusal, and nothing has changed. */
export class Refused extends Error {}

/** The address or the identity belongs to another account, or is reserved for it. */
export class Taken extends Refused {}

/** The attempt's result; `taken` or null if it is refused. */
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
  return cause instanceof AuthError ? cause : storeUnavailable(cause)
}
