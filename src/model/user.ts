import { isoTime } from '../lib/iso-time.js'
import { rolesOf, type VerifiedBy } from './admin-role.js'
import { type Factor, hasFactor } from './factors/kinds.js'
import type { LinkedProvider } from './identity.js'

/** Extra user fields of the application: `declare module 'latchkey' { interface UserFields { plan: string } }`. */
// biome-ignore lint/suspicious/noEmptyInterface: applications add their fields by declaration merging.
export interface UserFields {}

/** An account as the store keeps it. Times are Unix seconds. */
export interface UserRecord {
  id: string
  /** As typed; mails go to this text's canonical form. */
  email: string
  /** What addresses are compared by; unique. */
  emailCanonical: string
  emailVerified: boolean
  /** null: not verified, or before migration 0003, or by an import that proves nothing to us. */
  verifiedBy: VerifiedBy | null
  name: string | null
  /** Scheme, parameters and hash in one text; null for an account without a password. */
  passwordHash: string | null
  roles: readonly string[]
  fields: Readonly<Record<string, unknown>>
  /** Raised with every change of role, password, email or disabled state; access tokens below it are dead. */
  version: number
  disabledAt: number | null
  /** null with `disabledAt` set: until enabled again. */
  disabledUntil: number | null
  /** Why, in the words of the administrator; null when enabled or not given. */
  disabledReason: string | null
  /** Whether the password counts no more until it is reset. */
  mustReset: boolean
  /** Second factors, the oldest first; empty while two-factor authentication is off. */
  factors: readonly Factor[]
  /** Logins at providers, the oldest link first; at most one of each provider. */
  identities: readonly LinkedProvider[]
  createdAt: number
  lastLoginAt: number | null
}

/** A user as answers show it. Times are ISO 8601 in UTC. */
export interface User extends UserFields {
  id: string
  email: string
  emailVerified: boolean
  name: string | null
  roles: readonly string[]
  twoFactor: boolean
  createdAt: string
  lastLoginAt: string | null
  identities: readonly { provider: string; linkedAt: string }[]
}

/** Whether the account is disabled at that moment (Unix seconds). */
export function isDisabled(user: UserRecord, now: number): boolean {
  return user.disabledAt !== null && (user.disabledUntil === null || user.disabledUntil > now)
}

/**
 * The user as answers and hooks see it: no hash, no canonical address, no version.
 *
 * @param adminEmails `admin.emails`, canonical: whose accounts have the role ADMIN
 */
export function toUser(record: UserRecord, adminEmails: readonly string[]): User {
  return {
    ...record.fields,
    id: record.id,
    email: record.email,
    emailVerified: record.emailVerified,
    name: record.name,
    roles: rolesOf(record, adminEmails),
    twoFactor: hasFactor(record),
    createdAt: isoTime(record.createdAt),
    lastLoginAt: record.lastLoginAt === null ? null : isoTime(record.lastLoginAt),
    identities: record.identities.map(({ provider, linkedAt }) => ({ provider, linkedAt: isoTime(linkedAt) })),
  }
}
