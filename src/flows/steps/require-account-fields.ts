import { AuthError, type FieldError, invalidField } from '../../errors.js'
import { type EmailAddress, parseEmailAddress } from '../../lib/email-address.js'
import { adminRole } from '../../model/admin-role.js'

/** An access token carries the roles and must fit a cookie. */
const longestRoles = 1024
const longestName = 100
const longestReason = 200
/** Keeps rows of the users table small. */
const mostFieldBytes = 16 * 1024
const deepestFields = 16

/**
 * Refuses unknown names: a misspelt role, end or network would silently have no effect.
 *
 * @throws {AuthError} `invalid_request`
 */
export function requireKnown(input: unknown, names: readonly string[]): void {
  if (typeof input !== 'object' || input === null) throw invalidField('', 'must be an object')
  const unknown = Object.keys(input).filter((name) => !names.includes(name))
  if (unknown.length === 0) return
  throw new AuthError('invalid_request', { errors: unknown.map((path) => ({ path, message: 'is not known' })) })
}

/** @throws {AuthError} `invalid_request` unless it is one line of at most 100 characters, or null */
export function requireName(name: unknown, path = 'name'): string | null {
  if (name === null) return null
  if (!isLine(name, longestName)) throw invalidField(path, 'must be one line of at most 100 characters')
  return name.trim() || null
}

/** @throws {AuthError} `invalid_request` unless they are words other than ADMIN, all together at most 1,024 bytes as JSON */
export function requireRoles(roles: unknown): readonly string[] {
  if (!Array.isArray(roles) || !roles.every((role) => isLine(role, longestName) && role !== '')) {
    throw invalidField('roles', 'must be a list of words')
  }
  if (roles.includes(adminRole)) {
    throw invalidField('roles', 'must not name ADMIN: the setting admin.emails gives it')
  }
  const once = [...new Set(roles)]
  if (Buffer.byteLength(JSON.stringify(once)) > longestRoles) throw invalidField('roles', 'must be at most 1,024 bytes')
  return once
}

/** @throws {AuthError} `invalid_request` unless it is one line of at most 200 characters */
export function requireReason(reason: string): string {
  if (!isLine(reason, longestReason)) throw invalidField('reason', 'must be one line of at most 200 characters')
  return reason
}

/** Whether the second factor goes. @throws {AuthError} `invalid_request` for anything but false or nothing */
export function requireFactorOff(twoFactor: unknown): boolean {
  if (twoFactor === undefined) return false
  if (twoFactor !== false) throw invalidField('twoFactor', 'must be false: only the user can turn it on')
  return true
}

/** Unix seconds. @throws {AuthError} `invalid_request` unless it is a date or its ISO 8601 text */
export function requireDate(date: Date | string): number {
  const milliseconds = new Date(date).getTime()
  if (Number.isNaN(milliseconds)) throw invalidField('until', 'must be a date')
  return Math.ceil(milliseconds / 1000)
}

/** Unix seconds. @throws {AuthError} `invalid_request` unless it is a date or its ISO 8601 text, from 1970 until now */
export function requirePast(date: unknown, path: string, now: number): number {
  const isDate = date instanceof Date || (typeof date === 'string' && /^\d{4}-\d\d-\d\d/.test(date))
  const seconds = isDate ? Math.floor(new Date(date).getTime() / 1000) : Number.NaN
  if (!(seconds >= 0 && seconds <= now)) throw invalidField(path, 'must be a date of the past')
  return seconds
}

/** @throws {AuthError} `invalid_request` unless it is true or false */
export function requireFlag(flag: unknown, path: string): boolean {
  if (typeof flag !== 'boolean') throw invalidField(path, 'must be true or false')
  return flag
}

/** @throws {AuthError} `invalid_request` unless it is an object of what JSON can carry, at most 16 KiB */
export function requireFields(fields: unknown): Readonly<Record<string, unknown>> {
  if (!isPlainObject(fields) || !isJson(fields, 0)) throw invalidField('fields', 'must be an object of JSON values')
  if (Buffer.byteLength(JSON.stringify(fields)) > mostFieldBytes) throw invalidField('fields', 'must be at most 16 KiB')
  return fields
}

/** Nothing that would come back as something else: no dates, no NaN, no lone surrogates. */
function isJson(value: unknown, depth: number): boolean {
  if (depth > deepestFields) return false
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
  if (isPlainObject(value)) {
    const parts = Object.entries(value).filter(([, part]) => part !== undefined)
    return parts.flat().every((part) => isJson(part, depth + 1))
  }
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value)
  return value === null || typeof value === 'boolean' || Number.isFinite(value)
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function isLine(text: unknown, longest: number): text is string {
  return typeof text === 'string' && text.length <= longest && !/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)
}

/** @throws {AuthError} `invalid_request` for everything that is not one plain address */
export function requireEmail(text: unknown, path = 'email'): EmailAddress {
  const email = parseEmailAddress(text)
  if (!email) throw new AuthError('invalid_request', { errors: [invalidEmail(path)] })
  return email
}

export function invalidEmail(path = 'email'): FieldError {
  return { path, message: 'must be an email address' }
}
