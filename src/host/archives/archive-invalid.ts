import { AuthError } from '../../errors.js'
import { oneLine } from '../../lib/one-line.js'

/** The error of a backup that the host refuses: which entry, and what is wrong with it. */
export function archiveInvalid(fault: string, cause?: unknown): AuthError {
  return new AuthError('archive_invalid', {
    detail: `${fault} Nothing was restored.`,
    ...(cause !== undefined && { cause }),
  })
}

/** A path of the archive as it may stand in a sentence: on one line, cut at 100 characters. */
export function quoted(path: string): string {
  const line = oneLine(path)
  return `"${line.length > 100 ? `${line.slice(0, 100)}…` : line}"`
}
