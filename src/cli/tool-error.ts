import { AuthError, errorTable, type FieldError, SettingsError } from '../errors.js'

/**
 * 0 done · 1 refused or failed · 2 usage · 3 not signed in, or no right · 4 not available in this home · 5 cannot reach ·
 * 6 partly done, or findings · 130 interrupted.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 130

/** Why a command ends without its result: a sentence for people, a code for programs, and the exit code. */
export class ToolError extends Error {
  readonly exitCode: ExitCode
  /** A code of the error table, or one of the tool: `usage`, `not_signed_in`, `not_here`, `unreachable`, … */
  readonly code: string
  readonly details: ToolErrorDetails

  constructor(exitCode: ExitCode, code: string, message: string, details: ToolErrorDetails = {}) {
    super(message)
    this.name = 'ToolError'
    this.exitCode = exitCode
    this.code = code
    this.details = details
  }
}

export interface ToolErrorDetails {
  /** More lines for people. A line break within a line is printed as its code, since a server may have sent it. */
  lines?: readonly string[]
  /** Of the HTTP response. */
  status?: number
  requestId?: string
  /** Which fields are wrong. */
  errors?: readonly FieldError[]
  /** From `Retry-After`. */
  retryAfterSeconds?: number
}

/** A command line, file or environment that the user can correct. */
export function usage(message: string, ...lines: readonly string[]): ToolError {
  return new ToolError(2, 'usage', message, { lines })
}

/** @param missing as `npm install` takes them */
export function packagesMissing(missing: readonly string[]): ToolError {
  return new ToolError(2, 'packages_missing', `This command needs more packages. Run: npm install ${missing.join(' ')}`)
}

/** The user pressed Ctrl-C or cancelled a prompt. */
export function interrupted(): ToolError {
  return new ToolError(130, 'interrupted', 'Interrupted.')
}

/** Any error as one that has an exit code. The message of an unknown error stays, its stack does not. */
export function toToolError(error: unknown): ToolError {
  if (error instanceof ToolError) return error
  if (error instanceof SettingsError) return multiline(2, 'settings_fault', error.message)
  if (error instanceof AuthError) {
    const { code, status, message, details } = error
    return new ToolError(exitCodeOf(status, code), code, message, {
      status,
      lines: linesOf(details),
      ...(details.errors && { errors: details.errors }),
    })
  }
  return multiline(1, 'failed', error instanceof Error ? error.message : String(error))
}

const reasonSentences: Readonly<Record<string, string>> = {
  too_short: 'It is too short. The setting password.minLength says how long it must be (default: 10 characters).',
  too_long: 'It has more than 256 characters.',
  breached: 'It is in a public list of stolen passwords.',
  common: 'It is too common.',
  similar_to_email: 'It is too similar to the address.',
}

/** In local mode, the person who reads this owns the database. So they may read what it says. */
function linesOf({ reasons = [], cause }: AuthError['details']): string[] {
  const underneath = cause instanceof Error ? [cause.message.split('\n')[0] ?? ''] : []
  return [...reasons.map((reason) => reasonSentences[reason] ?? reason), ...underneath]
}

function multiline(exitCode: ExitCode, code: string, text: string): ToolError {
  const [message = '', ...lines] = text.split('\n')
  return new ToolError(exitCode, code, message, { lines })
}

/** The exit code of a refusal with this HTTP status. */
export function exitCodeOf(status: number, code: string): ExitCode {
  if (status === 401 || (status === 403 && code !== 'csrf_rejected')) return 3
  if (status === 501) return 4
  return status === 502 || status === 503 || status === 504 ? 5 : 1
}

/** An error as problem details (RFC 9457), which `--json` prints on stderr. */
export function problemOf(error: ToolError): Readonly<Record<string, unknown>> {
  const { code, message, exitCode, details } = error
  const { status, requestId, errors, lines = [] } = details
  return {
    type: 'about:blank',
    title: titleOf(code) ?? message,
    ...(status !== undefined && { status }),
    code,
    detail: [message, ...lines].join('\n'),
    exitCode,
    ...(requestId !== undefined && { requestId }),
    ...(errors !== undefined && { errors }),
  }
}

function titleOf(code: string): string | null {
  return Object.entries(errorTable).find(([name]) => name === code)?.[1][1] ?? null
}
