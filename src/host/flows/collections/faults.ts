import { AuthError, storeUnavailable } from '../../../errors.js'
import { StoreError } from '../../documents/store-error.js'

/** What a fault of the store means for the client. Others stay what they are. */
export function toFault(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error
  const { code, message } = error
  // An index changed while it was read. The next try plans anew.
  if (code === 'plan_outdated' || code === 'store_unavailable') return storeUnavailable(error)
  return new AuthError(code, { detail: message, cause: error })
}

/** @throws {AuthError} for a fault of the store */
export async function asFault<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw toFault(error)
  }
}

/** @throws {AuthError} `quota_exceeded` while only the host itself may write */
export function requireDisk({ isFull }: { isFull(): boolean }): void {
  if (!isFull()) return
  throw new AuthError('quota_exceeded', { detail: 'The disk of the host is nearly full. Free some space on it first.' })
}
