import { AuthError } from '../../errors.js'
import { requireFields, requireFlag, requireName, requirePast, requireRoles } from '../steps/require-account-fields.js'
import { requireEmail } from '../steps/require-email.js'

/** An account to be imported, held to the rules. */
export interface ReadAccount {
  email: { typed: string; canonical: string }
  name: string | null
  passwordHash: string | null
  /** What the record calls it. */
  hashPath: string
  emailVerified: boolean
  roles: readonly string[]
  fields: Readonly<Record<string, unknown>>
  /** Unix seconds; null: now. */
  createdAt: number | null
  disabled: boolean
}

const ownNames = ['email', 'name', 'passwordHash', 'emailVerified', 'roles', 'fields', 'createdAt', 'disabled']

/**
 * Reads a record of ours or a document of codehooks-auth. A name that is none of ours is a mistake: left out silently,
 * `password_hash` would lock everybody out.
 *
 * @param now Unix seconds
 * @throws {AuthError} `invalid_request` with the path of the property that is wrong
 */
export function readImportedAccount(record: unknown, now: number): ReadAccount {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) throw malformed('', 'must be an object')
  const given: Readonly<Record<string, unknown>> = { ...record }
  if (Object.hasOwn(given, '_id')) return readCodehooksAuth(given, now)

  const unknown = Object.keys(given).find((name) => !ownNames.includes(name))
  if (unknown !== undefined) throw malformed(unknown, 'is no property of an account')
  return {
    email: requireEmail(given.email),
    name: requireName(given.name ?? null),
    passwordHash: readHash(given.passwordHash, 'passwordHash'),
    hashPath: 'passwordHash',
    emailVerified: requireFlag(given.emailVerified ?? false, 'emailVerified'),
    roles: requireRoles(given.roles ?? []),
    fields: requireFields(given.fields ?? {}),
    createdAt: readTime(given.createdAt, 'createdAt', now),
    disabled: requireFlag(given.disabled ?? false, 'disabled'),
  }
}

/**
 * Whoever signed up there could add properties to the document, roles among them, and OAuth left the provider's whole
 * profile: only what is named here is taken. `active` opened the API and came with the confirmed address.
 */
function readCodehooksAuth(document: Readonly<Record<string, unknown>>, now: number): ReadAccount {
  const isActive = document.active === true
  return {
    email: requireEmail(document.email),
    name: readProfileName(document.name),
    passwordHash: readHash(document.password, 'password'),
    hashPath: 'password',
    emailVerified: isActive,
    roles: [],
    fields: {},
    createdAt: readTime(document.created, 'created', now),
    disabled: !isActive,
  }
}

/** A provider's idea of a name may be longer than ours: then there is none. */
function readProfileName(name: unknown): string | null {
  try {
    return requireName(name ?? null)
  } catch {
    return null
  }
}

function readHash(hash: unknown, path: string): string | null {
  if (hash === undefined || hash === null) return null
  if (typeof hash !== 'string') throw malformed(path, 'must be a text')
  return hash
}

function readTime(time: unknown, path: string, now: number): number | null {
  return time === undefined || time === null ? null : requirePast(time, path, now)
}

function malformed(path: string, message: string): AuthError {
  return new AuthError('invalid_request', { errors: [{ path, message }] })
}
