import type { ExpressionBuilder, Insertable, Kysely, Selectable } from 'kysely'
import type { Totp, UserRecord } from '../../model/user.js'
import { readJson, type Tables, toNumber, type UsersTable } from './schema.js'

export async function readUser(
  db: Kysely<Tables>,
  column: 'id' | 'email_canonical',
  value: string,
): Promise<UserRecord | null> {
  const row = await db.selectFrom('latchkey_users').selectAll().where(column, '=', value).executeTakeFirst()
  return row ? toUser(row) : null
}

/** The account is not disabled at that moment; the SQL of `isDisabled` in model/user.ts. */
export function isEnabled(now: number) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) =>
    eb.or([eb('latchkey_users.disabled_at', 'is', null), eb('latchkey_users.disabled_until', '<=', now)])
}

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
    totp: toTotp(row),
    identities: readJson(row.identities),
    createdAt: Number(row.created_at),
    lastLoginAt: toNumber(row.last_login_at),
  }
}

function toTotp(row: Selectable<UsersTable>): Totp | null {
  if (row.totp_secret === null) return null
  return { sealedSecret: row.totp_secret, lastStep: Number(row.totp_step), enabledAt: Number(row.totp_at) }
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
  'totp_secret',
  'totp_step',
  'totp_at',
  'identities',
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
    totp_secret: user.totp?.sealedSecret ?? null,
    totp_step: user.totp?.lastStep ?? null,
    totp_at: user.totp?.enabledAt ?? null,
    identities: JSON.stringify(user.identities),
    created_at: user.createdAt,
    last_login_at: user.lastLoginAt,
  }
}
