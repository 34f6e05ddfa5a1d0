import { AuthError } from '../errors.js'
import type { Logger } from '../settings.js'

/** Any error that is not an `AuthError` is a bug of ours: the visitor sees `internal_error` and no detail. */
export function toAuthError(error: unknown): AuthError {
  return error instanceof AuthError ? error : new AuthError('internal_error', { cause: error })
}

/** Logs faults of the server by name and code only, since a message could quote what the visitor sent. */
export function logFault(logger: Logger, fault: AuthError, requestId: string): void {
  if (fault.status < 500) return
  const cause = fault.details.cause
  const fields = {
    event: 'request_failed',
    code: fault.code,
    requestId,
    cause: cause instanceof Error ? cause.name : undefined,
    causeCode: cause instanceof Error && 'code' in cause ? String(cause.code) : undefined,
    stack: fault.code === 'internal_error' && cause instanceof Error ? stackFrames(cause) : undefined,
  }
  if (fault.code === 'internal_error') logger.error(fields, 'A request failed.')
  else logger.warn(fields, 'A request could not be served.')
}

/** The frames of a stack without the message before them, which may contain a line that looks like a frame. */
function stackFrames({ stack = '', message }: Error): string[] {
  const start = stack.indexOf(message)
  const frames = start === -1 ? '' : stack.slice(start + message.length)
  const lines = frames.split('\n').map((line) => line.trim())
  return lines.filter((line) => line.startsWith('at ')).slice(0, 8)
}
