import { AuthError } from '../../errors.js'

/** The error of a release archive that the host refuses: what is wrong, where, and what to do. */
export function bundleInvalid(fault: string, cure: string, cause?: unknown): AuthError {
  return new AuthError('bundle_invalid', { detail: `${fault} ${cure}`, ...(cause !== undefined && { cause }) })
}

export const deployAgain = 'Deploy again with the tool of this version: latchkey deploy'
