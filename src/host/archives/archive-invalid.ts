import { AuthError } from '../../errors.js'

/** The error of a backup that cannot be restored: what is wrong, where, and what to do. */
export function archiveInvalid(fault: string, cure: string = takeAnother, cause?: unknown): AuthError {
  return new AuthError('archive_invalid', { detail: `${fault} ${cure}`, ...(cause !== undefined && { cause }) })
}

const takeAnother = 'Fetch the archive again, or take another one.'
