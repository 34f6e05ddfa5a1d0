import { fieldsIn, textsIn } from '../lib/json-fields.js'
import { withAdmin } from '../model/admin-role.js'
import type { UserRecord } from '../model/user.js'
import { toAllFactorColumns, toFactors } from './factor-columns.js'
import { linkedProvidersIn, readColumn } from './json-columns.js'
import { toNumber, type UsersTable } from './rows.js'

/** No flow needs the handle of its passkeys. */
export function toUser(row: Omit<UsersTable, 'passkey_handle'>): UserRecord {
  return {
    id: row.id,
    email: row.email,
    emailCanonical: row.email_canonical,
    emailVerified: Number(row.email_verified) === 1,
    verifiedBy: row.verified_by,
    name: row.name,
    passwordHash: row.password_hash,
    roles: withAdmin(readColumn(row, 'roles', textsIn), false),
    fields: readColumn(row, 'fields', fieldsIn),
    version: Number(row.version),
    disabledAt: toNumber(row.disabled_at),
    disabledUntil: toNumber(row.disabled_until),
    disabledReason: row.disabled_reason,
    mustReset: Number(row.must_reset) === 1,
    factors: toFactors(row),
    identities: readColumn(row, 'identities', linkedProvidersIn),
    createdAt: Number(row.created_at),
    lastLoginAt: toNumber(row.last_login_at),
  }
}

export function toUserRow(user: UserRecord): UsersTable {
  return {
    id: user.id,
    email: user.email,
    email_canonical: user.emailCanonical,
    email_verified: user.emailVerified ? 1 : 0,
    verified_by: user.verifiedBy,
    name: user.name,
    password_hash: user.passwordHash,
    roles: JSON.stringify(user.roles),
    fields: JSON.stringify(user.fields),
    version: user.version,
    disabled_at: user.disabledAt,
    disabled_until: user.disabledUntil,
    disabled_reason: user.disabledReason,
    must_reset: user.mustReset ? 1 : 0,
    ...toAllFactorColumns(user.factors),
    passkey_handle: null,
    identities: JSON.stringify(user.identities),
    created_at: user.createdAt,
    last_login_at: user.lastLoginAt,
  }
}

export function isEnabled(row: Pick<UsersTable, 'disabled_at' | 'disabled_until'>, now: number): boolean {
  return row.disabled_at === null || (row.disabled_until !== null && row.disabled_until <= now)
}
