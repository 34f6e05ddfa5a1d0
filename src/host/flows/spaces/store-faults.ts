import { AuthError, storeUnavailable } from '../../../errors.js'
import { StoreError } from '../../documents/store-error.js'
import { hasCode } from '../../has-code.js'

/** What an error of the data of a space means for the caller. Its messages name no value. Other errors stay what they are. */
export function toFault(error: unknown): unknown {
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) return diskFull(error)
  if (!(error instanceof StoreError)) return error
  const { code, message } = error
  // An index changed while it was read. The next try plans anew.
  if (code === 'plan_outdated') return storeUnavailable(error)
  const retry = code === 'store_unavailable' ? { retryAfterSeconds: 1 } : {}
  return new AuthError(code, { ...retry, detail: message, cause: error })
}

/** Runs `work`, whose faults of the data become those of the caller. @throws {AuthError} */
export async function withFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toFault(error)
  }
}

/** @throws {AuthError} `quota_exceeded` while only the host itself may write */
export function requireDisk({ isFull }: { isFull(): boolean }): void {
  if (isFull()) throw diskFull()
}

function diskFull(cause?: unknown): AuthError {
  const detail = 'The disk of the host is nearly full. Free some space on it, and try again.'
  return new AuthError('quota_exceeded', { detail, ...(cause !== undefined && { cause }) })
}
