import type { ErrorCode, FieldError } from '../errors.js'

/**
 * A refusal of the server, or of the network.
 *
 * @example
 * try { await auth.signIn({ email, password }) } catch (error) {
 *   if (error instanceof AuthClientError && error.code === 'rate_limited') wait(error.retryAfter)
 * }
 */
export class AuthClientError extends Error {
  /** The contract. `network_error`: no answer came; `unexpected_answer`: one came, but not from Latchkey. */
  declare readonly code: ErrorCode | 'network_error' | 'unexpected_answer'
  /** HTTP status; 0 when no answer came. */
  declare readonly status: number
  /** Which fields are wrong, for `invalid_request`. */
  declare readonly errors: readonly FieldError[]
  /** Why a password is weak: `too_short`, `breached`, … */
  declare readonly reasons: readonly string[]
  /** What the server's log calls the request; null when no answer came. */
  declare readonly requestId: string | null
  /** Seconds until trying again makes sense; null when the answer does not say. */
  declare readonly retryAfter: number | null
  /** Whether a new mail was sent, for `email_not_verified`; null for every other code. */
  declare readonly mailSent: boolean | null
  /** Set for `invalid_passkey` when no account has the passkey: `latchkey/client/passkeys` then tells the browser so. */
  declare readonly unknown?: boolean

  constructor(status: number, problem: Problem = {}, cause?: unknown) {
    super(problem.detail ?? (status ? `The server answered ${status}.` : 'No response.'), { cause })
    const code = status ? 'unexpected_answer' : 'network_error'
    const absent = { requestId: null, retryAfter: null, mailSent: null }
    Object.assign(this, { code, errors: [], reasons: [], ...absent, ...problem, name: 'AuthClientError', status })
  }
}

/** What an `application/problem+json` of the server holds. */
export interface Problem {
  code?: ErrorCode
  detail?: string
  errors?: readonly FieldError[]
  reasons?: readonly string[]
  requestId?: string
  mailSent?: boolean
  unknown?: boolean
  retryAfter?: number | null
}

/** The problem that an answer tells, without using the answer up. When it tells none, only `retryAfter` of the header is left. */
export async function problemOf(answer: Response): Promise<Problem> {
  const isProblem = answer.headers.get('content-type')?.includes('problem+json')
  const problem = isProblem && (await jsonOf<Problem>(answer.clone()).catch(() => undefined))
  // Seconds: the server writes no dates there.
  return { retryAfter: Number(answer.headers.get('retry-after')) || null, ...problem }
}

/** Boundary: the types of the answer are the server's promise; checking them here would cost bytes. Null for no body. */
export async function jsonOf<T>(answer: Response): Promise<T> {
  const text = (await answer.text()) || 'null'
  try {
    return JSON.parse(text)
  } catch {
    throw new AuthClientError(answer.status)
  }
}

export async function errorOf(answer: Response): Promise<AuthClientError> {
  return new AuthClientError(answer.status, await problemOf(answer))
}

/** What `fetch` throws says no more than that no answer came. */
export function rethrow(cause: unknown): never {
  throw cause instanceof AuthClientError ? cause : new AuthClientError(0, {}, cause)
}
