import { AuthError } from '../../../errors.js'
import { StoreError } from '../../documents/store-error.js'
import { hasCode } from '../../has-code.js'

/** What an error of the data of a space means for the caller. Its messages name no value. */
function toFault(error: unknown): unknown {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) return diskFull(error)
  if (!(error instanceof StoreError)) return error
  const { code, message } = error
  if (code === 'plan_outdated') return new AuthError('not_current', { detail: message, cause: error })
  return new AuthError(code, { detail: message, cause: error })
}

export function diskFull(cause?: unknown): AuthError {
  const detail = 'The disk of the host is nearly full. Free some space on it, and try again.'
  return new AuthError('quota_exceeded', { detail, ...(cause !== undefined && { cause }) })
}

/** Runs `work`, whose faults of the data become those of the caller. @throws {AuthError} */
export async function withFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toFault(error)
  }
}
