import { AuthError } from '../errors.js'

/** An access token carries the roles and must fit a cookie. */
const longestRoles = 1024
const longestName = 100
const longestReason = 200

/** @throws {AuthError} `invalid_request` unless it is one line of at most 100 characters, or null */
export function requireName(name: string | null): string | null {
  if (name === null) return null
  if (!isLine(name, longestName)) throw malformed('name', 'must be one line of at most 100 characters')
  return name.trim() || null
}

/** @throws {AuthError} `invalid_request` unless they are words, all together at most 1,024 bytes as JSON */
export function requireRoles(roles: readonly string[]): readonly string[] {
  if (!Array.isArray(roles) || !roles.every((role) => isLine(role, longestName) && role !== '')) {
    throw malformed('roles', 'must be a list of words')
  }
  const once = [...new Set(roles)]
  if (Buffer.byteLength(JSON.stringify(once)) > longestRoles) throw malformed('roles', 'must be at most 1,024 bytes')
  return once
}

/** @throws {AuthError} `invalid_request` unless it is one line of at most 200 characters */
export function requireReason(reason: string): string {
  if (!isLine(reason, longestReason)) throw malformed('reason', 'must be one line of at most 200 characters')
  return reason
}

/** Unix seconds. @throws {AuthError} `invalid_request` unless it is a date or its ISO 8601 text */
export function requireDate(date: Date | string): number {
  const milliseconds = new Date(date).getTime()
  if (Number.isNaN(milliseconds)) throw malformed('until', 'must be a date')
  return Math.ceil(milliseconds / 1000)
}

function isLine(text: unknown, longest: number): boolean {
  return typeof text === 'string' && text.length <= longest && !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)
}

function malformed(path: string, message: string): AuthError {
  return new AuthError('invalid_request', { errors: [{ path, message }] })
}
