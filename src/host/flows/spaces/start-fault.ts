import { AuthError } from '../../../errors.js'
import { SealingError } from '../../sealing/sealing-error.js'

/** A variable that does not open stops the start as a faulty bundle does. The message names it, and no value. */
export function startFault(error: unknown): unknown {
  if (!(error instanceof SealingError)) return error
  return new AuthError('bundle_invalid', { detail: error.message, cause: error })
}

/** Whether the application or its environment is at fault, and not the host. */
export function isOfApplication(error: unknown): boolean {
  const fault = startFault(error)
  return fault instanceof AuthError && (fault.code === 'bundle_invalid' || fault.code === 'application_timeout')
}
