/**
 * Every error a visitor can meet: its code, HTTP status and sentence.
 *
 * The code is the contract; the sentence may change. Neither ever holds a secret, a token, an address or SQL.
 */
export const errorTable = {
  invalid_request: [400, 'The request is malformed.'],
  invalid_token: [400, 'This link or code is not valid. It may have been used, replaced or expired.'],
  unauthenticated: [401, 'Sign in to continue.'],
  token_expired: [401, 'The access token has expired. Refresh and try again.'],
  token_revoked: [401, 'This session has ended. Sign in again.'],
  session_expired: [401, 'This session is too old. Sign in again.'],
  invalid_credentials: [401, 'The email or the password is wrong.'],
  invalid_code: [401, 'The code is wrong.'],
  forbidden: [403, 'This is not allowed.'],
  email_not_verified: [403, 'Confirm your email address first. We have sent you a new mail.'],
  account_disabled: [403, 'This account is disabled.'],
  csrf_rejected: [403, 'The request came from another site.'],
  ip_not_allowed: [403, 'This network may not use the API.'],
  api_token_in_browser: [403, 'API tokens must not be used from a browser.'],
  insufficient_access: [403, 'This credential does not give enough access.'],
  recent_login_required: [403, 'Sign in again to do this.'],
  two_factor_enrolment_required: [403, 'Set up two-factor authentication first.'],
  registration_disabled: [403, 'Registration is closed.'],
  not_found: [404, 'There is nothing here.'],
  method_not_allowed: [405, 'This method is not supported here.'],
  email_taken: [409, 'This email address is already in use.'],
  identity_taken: [409, 'This login already belongs to another account.'],
  last_credential: [409, 'This is the last way into the account.'],
  payload_too_large: [413, 'The request body is too large.'],
  unsupported_media_type: [415, 'Send JSON or a form.'],
  weak_password: [422, 'Choose a stronger password.'],
  rate_limited: [429, 'Too many requests. Try again later.'],
  internal_error: [500, 'Something went wrong on our side.'],
  busy: [503, 'The server is busy. Try again shortly.'],
  store_unavailable: [503, 'The service is unavailable for the moment. Try again shortly.'],
  jwks_unavailable: [503, 'The identity provider cannot be reached. Try again shortly.'],
  hook_failed: [503, 'Access could not be decided. Try again shortly.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>

export type ErrorCode = keyof typeof errorTable

/** One fault of a request body: where it is and what is wrong, never the value. */
export interface FieldError {
  path: string
  message: string
}

export interface AuthErrorDetails {
  /** Replaces the table's sentence. Must not hold anything secret. */
  detail?: string
  /** For `invalid_request`: which fields are wrong. */
  errors?: readonly FieldError[]
  /** For `weak_password`: why. */
  reasons?: readonly string[]
  /** Seconds, sent as `Retry-After`. */
  retryAfterSeconds?: number
  /** Why the guard refused, in fixed words that hold nothing of the request: sent in development only. */
  explain?: string
  /** What happened underneath; goes to the log only as its class and code, never into an answer. */
  cause?: unknown
}

/**
 * A mistake or a misfortune of a visitor's request. The router turns it into an RFC 9457 problem.
 *
 * @example
 * hooks: { beforeRegister() { throw new AuthError('forbidden', { detail: 'Invitation only.' }) } }
 */
export class AuthError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly details: AuthErrorDetails

  constructor(code: ErrorCode, details: AuthErrorDetails = {}) {
    const [status, sentence] = errorTable[code]
    super(details.detail ?? sentence, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AuthError'
    this.code = code
    this.status = status
    this.details = details
  }
}

/** One fault in the settings: the setting's name and what is wrong with it, never its value. */
export interface SettingsFault {
  setting: string
  message: string
}

/**
 * Thrown synchronously by `init` and `createAuth`: lists every fault of the settings at once.
 *
 * @example
 * try { init(app, settings) } catch (error) { if (error instanceof SettingsError) console.error(error.faults) }
 */
export class SettingsError extends Error {
  readonly faults: readonly SettingsFault[]

  constructor(faults: readonly SettingsFault[]) {
    const lines = faults.map((fault) => `  ${fault.setting}: ${fault.message}`)
    super(
      `Latchkey cannot start, ${faults.length === 1 ? 'one setting is' : 'some settings are'} wrong:\n${lines.join('\n')}`,
    )
    this.name = 'SettingsError'
    this.faults = faults
  }
}
