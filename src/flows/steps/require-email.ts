import { AuthError, type FieldError } from '../../errors.js'
import { type EmailAddress, parseEmailAddress } from '../../lib/email-address.js'

/** @throws {AuthError} `invalid_request` for everything that is not one plain address */
export function requireEmail(text: unknown, path = 'email'): EmailAddress {
  const email = parseEmailAddress(text)
  if (!email) throw new AuthError('invalid_request', { errors: [invalidEmail(path)] })
  return email
}

export function invalidEmail(path = 'email'): FieldError {
  return { path, message: 'must be an email address' }
}
