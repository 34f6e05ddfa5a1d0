import { AuthError } from '../../errors.js'
import { parseEmailAddress } from '../../lib/email-address.js'

/** @throws {AuthError} `invalid_request` for everything that is not one plain address */
export function requireEmail(text: unknown, path = 'email'): { typed: string; canonical: string } {
  const email = parseEmailAddress(text)
  if (!email) {
    throw new AuthError('invalid_request', { errors: [{ path, message: 'must be an email address' }] })
  }
  return email
}
