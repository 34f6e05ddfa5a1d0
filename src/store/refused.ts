import { AuthError, storeUnavailable } from '../errors.js'

/** Thrown inside a step that must not happen. The step then returns its refusal, and nothing has changed. */
export class Refused extends Error {}

/** The address or the identity belongs to another account, or is reserved for it. */
export class Taken extends Refused {}

/** No usable administrator would be left. */
export class LastAdmin extends Refused {}

/** The attempt's result; `taken` or null if it is refused. */
export async function unlessTaken<T>(attempt: () => Promise<T>): Promise<T | 'taken' | null> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof Taken) return 'taken'
    if (error instanceof Refused && !(error instanceof LastAdmin)) return null
    throw error
  }
}

/** The attempt's result; `last_admin` if it would have left no usable administrator. */
export async function unlessLastAdmin<T>(attempt: () => Promise<T>): Promise<T | 'last_admin'> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof LastAdmin) return 'last_admin'
    throw error
  }
}

/** A fault of the store. Its cause is kept, so that neither SQL nor a value of a row reaches the message. */
export function unavailable(cause: unknown): AuthError {
  return cause instanceof AuthError ? cause : storeUnavailable(cause)
}
