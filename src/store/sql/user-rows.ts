import type { ExpressionBuilder, Kysely } from 'kysely'
import type { UserRecord } from '../../model/user.js'
import { factorColumns } from '../factor-columns.js'
import { toUser } from '../user-rows.js'
import type { Tables, UsersTable } from './engine/schema.js'

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
  ...factorColumns,
  'identities',
  'created_at',
  'last_login_at',
] as const satisfies readonly (keyof UsersTable)[]
