import type { Insertable, Selectable } from 'kysely'
import type { UserRecord } from '../../model/user.js'
import { readJson, toNumber, type UsersTable } from './schema.js'

export function toUser(row: Selectable<UsersTable>): UserRecord {
  return {
    id: row.id,
    email: row.email,
    emailCanonical: row.email_canonical,
    emailVerified: Number(row.email_verified) === 1,
    name: row.name,
    passwordHash: row.password_hash,
    roles: readJson(row.roles),
    fields: readJson(row.fields),
    version: Number(row.version),
    disabledAt: toNumber(row.disabled_at),
    disabledUntil: toNumber(row.disabled_until),
    createdAt: Number(row.created_at),
    lastLoginAt: toNumber(row.last_login_at),
  }
}

export const userColumns = [
  'id',
  'email',
  'email_canonical',
  'email_verified',
  'name',
  'password_hash',
  'roles',
  'fields',
  'version',
  'disabled_at',
  'disabled_until',
  'created_at',
  'last_login_at',
] as const satisfies readonly (keyof UsersTable)[]

export function toUserRow(user: UserRecord): Insertable<UsersTable> {
  return {
    id: user.id,
    email: user.email,
    email_canonical: user.emailCanonical,
    email_verified: user.emailVerified ? 1 : 0,
    name: user.name,
    password_hash: user.passwordHash,
    roles: JSON.stringify(user.roles),
    fields: JSON.stringify(user.fields),
    version: user.version,
    disabled_at: user.disabledAt,
    disabled_until: user.disabledUntil,
    created_at: user.createdAt,
    last_login_at: user.lastLoginAt,
  }
}
