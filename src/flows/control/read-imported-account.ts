import { invalidField } from '../../errors.js'
import type { VerifiedBy } from '../../model/admin-role.js'
import { provedByApplication } from '../registration/register.js'
import {
  requireEmail,
  requireFields,
  requireFlag,
  requireName,
  requirePast,
  requireRoles,
} from '../steps/require-account-fields.js'

/** An account to import, checked against the rules. */
export interface ReadAccount {
  email: { typed: string; canonical: string }
  name: string | null
  passwordHash: string | null
  /** The record's name for the hash. */
  hashPath: string
  emailVerified: boolean
  /** What proves the address to us: the application's own record does. */
  verifiedBy: VerifiedBy | null
  roles: readonly string[]
  fields: Readonly<Record<string, unknown>>
  /** Unix seconds; null: now. */
  createdAt: number | null
  disabled: boolean
  /** As given: what they hold is read when the account has an id. */
  passkeys: unknown
}

const ownNames = [
  'email',
  'name',
  'passwordHash',
  'emailVerified',
  'roles',
  'fields',
  'createdAt',
  'disabled',
  'passkeys',
]

/**
 * Reads a record of ours or a document of codehooks-auth. An unknown name is refused as a mistake: if `password_hash` were
 * silently ignored, no user could sign in.
 *
 * @param now Unix seconds
 * @throws {AuthError} `invalid_request` with the path of the wrong property
 */
export function readImportedAccount(record: unknown, now: number): ReadAccount {
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    throw invalidField('', 'must be an object')
  const given: Readonly<Record<string, unknown>> = { ...record }
  if (Object.hasOwn(given, '_id')) return readCodehooksAuth(given, now)

  const unknown = Object.keys(given).find((name) => !ownNames.includes(name))
  if (unknown !== undefined) throw invalidField(unknown, 'is no property of an account')
  return {
    email: requireEmail(given.email),
    name: requireName(given.name ?? null),
    passwordHash: readHash(given.passwordHash, 'passwordHash'),
    hashPath: 'passwordHash',
    ...provedByApplication(requireFlag(given.emailVerified ?? false, 'emailVerified')),
    roles: requireRoles(given.roles ?? []),
    fields: requireFields(given.fields ?? {}),
    createdAt: readTime(given.createdAt, 'createdAt', now),
    disabled: requireFlag(given.disabled ?? false, 'disabled'),
    passkeys: given.passkeys ?? [],
  }
}

/**
 * Takes only the properties named here. In codehooks-auth, anyone who signed up could add properties to the document, roles
 * among them, and OAuth left the provider's whole profile. `active` gave access to the API and came with the confirmed
 * address, but the document does not say what confirmed it: it makes no administrator.
 */
function readCodehooksAuth(document: Readonly<Record<string, unknown>>, now: number): ReadAccount {
  const isActive = document.active === true
  return {
    email: requireEmail(document.email),
    name: readProfileName(document.name),
    passwordHash: readHash(document.password, 'password'),
    hashPath: 'password',
    emailVerified: isActive,
    verifiedBy: null,
    roles: [],
    fields: {},
    createdAt: readTime(document.created, 'created', now),
    disabled: !isActive,
    passkeys: [],
  }
}

/** A provider's name may be longer than ours may be. Then the account gets no name. */
function readProfileName(name: unknown): string | null {
  try {
    return requireName(name ?? null)
  } catch {
    return null
  }
}

function readHash(hash: unknown, path: string): string | null {
  if (hash === undefined || hash === null) return null
  if (typeof hash !== 'string') throw invalidField(path, 'must be a text')
  return hash
}

function readTime(time: unknown, path: string, now: number): number | null {
  return time === undefined || time === null ? null : requirePast(time, path, now)
}
