import { AuthError } from '../../errors.js'
import { oneLine } from '../../lib/one-line.js'

/** The error of a release archive that the host refuses: what is wrong, where, and what to do. */
export function bundleInvalid(fault: string, cure: string, cause?: unknown): AuthError {
  return new AuthError('bundle_invalid', { detail: `${fault} ${cure}`, ...(cause !== undefined && { cause }) })
}

/** A path of the archive as it may stand in a sentence: on one line, cut at 100 characters. */
export function quoted(path: string): string {
  const line = oneLine(path)
  return `"${line.length > 100 ? `${line.slice(0, 100)}…` : line}"`
}

export const deployAgain = 'Deploy again with the tool of this version: latchkey deploy'
