import type { MailOutcome } from './model/mail-limit.js'

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
  invalid_passkey: [401, 'This passkey cannot be used here.'],
  forbidden: [403, 'This is not allowed.'],
  email_not_verified: [403, 'Confirm your email address first.'],
  account_disabled: [403, 'This account is disabled.'],
  password_reset_required: [
    403,
    'Choose a new password first. Use the link that we mailed to you, or ask for another.',
  ],
  csrf_rejected: [403, 'The request came from another site.'],
  ip_not_allowed: [403, 'This network may not use the API.'],
  api_token_in_browser: [403, 'API tokens must not be used from a browser.'],
  insufficient_access: [403, 'This credential does not allow this request.'],
  recent_login_required: [403, 'Sign in again to do this.'],
  two_factor_enrolment_required: [403, 'Set up two-factor authentication first.'],
  admin_token_not_for_this: [
    403,
    'Admin tokens are for deploy, undeploy, createindex, removeindex, backup, restore, import, export and query only.',
  ],
  passkeys_disabled: [403, 'Passkeys are not available here.'],
  registration_disabled: [403, 'Registration is closed.'],
  impersonation_forbidden: [403, 'This is not allowed while acting as another user.'],
  not_found: [404, 'There is nothing here.'],
  space_not_found: [404, 'There is no such space, or nothing is deployed in it.'],
  method_not_allowed: [405, 'This method is not supported here.'],
  email_taken: [409, 'This email address is already in use.'],
  identity_taken: [409, 'This login already belongs to another account.'],
  passkey_taken: [409, 'This passkey already belongs to an account.'],
  passkey_limit: [409, 'This account has as many passkeys as it may have. Remove one first.'],
  last_credential: [409, 'This is the last way into the account.'],
  would_lock_out: [409, 'This would lock you or every administrator out.'],
  last_admin: [409, 'At least one usable administrator must remain.'],
  already_exists: [409, 'There is already one like this.'],
  space_exists: [409, 'There is already a space of this name.'],
  space_busy: [409, 'Another change of this space is under way. Try again when it has ended.'],
  index_exists: [409, 'This collection already has such an index.'],
  not_current: [409, 'This was changed meanwhile. Read it again before you change it.'],
  payload_too_large: [413, 'The request body is too large.'],
  quota_exceeded: [413, 'There is no room left for this.'],
  target_too_long: [414, 'The path and the query of this request are too long.'],
  unsupported_media_type: [415, 'Send JSON or a form.'],
  wrong_host: [421, 'This host name is not served here.'],
  bundle_invalid: [422, 'The host refuses this release.'],
  archive_invalid: [422, 'The archive is damaged, or it is not for this space.'],
  query_invalid: [422, 'The query cannot be run.'],
  weak_password: [422, 'Choose a stronger password.'],
  rate_limited: [429, 'Too many requests. Try again later.'],
  headers_too_large: [431, 'The headers of this request are too large.'],
  internal_error: [500, 'Something went wrong on our side.'],
  not_here: [501, 'This server does not support that.'],
  application_failed: [502, 'The application sent no valid response.'],
  busy: [503, 'The server is busy. Try again shortly.'],
  store_unavailable: [503, 'The service is temporarily unavailable. Try again shortly.'],
  jwks_unavailable: [503, 'The identity provider cannot be reached. Try again shortly.'],
  hook_failed: [503, 'This request could not be checked. Try again shortly.'],
  application_starting: [503, 'The application is starting. Try again shortly.'],
  application_timeout: [504, 'The application did not respond in time.'],
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
  /** For `email_not_verified` after the right password: whether a new mail was sent. */
  mail?: MailOutcome
  /** For `invalid_passkey`: no account has that credential, so the browser may forget it. */
  unknown?: true
  /** For `recent_login_required`: the route that proves the user again. */
  reauthenticate?: string
  /** Seconds, sent as `Retry-After`. */
  retryAfterSeconds?: number
  /** Why the request was refused, for developers: sent in development only. Of the request it may name the origin, no more. */
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

/** The 400 of an input with one field that is wrong. The message names no value: `must be a list`. */
export function invalidField(path: string, message: string): AuthError {
  return new AuthError('invalid_request', { errors: [{ path, message }] })
}

/** The 503 of a request that could not reach the store, or must not trust what it knows. A retry may succeed at once. */
export function storeUnavailable(cause?: unknown): AuthError {
  return new AuthError('store_unavailable', { retryAfterSeconds: 1, ...(cause !== undefined && { cause }) })
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
