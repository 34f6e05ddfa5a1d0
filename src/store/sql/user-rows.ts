import type { ExpressionBuilder, Kysely } from 'kysely'
import type { UserRecord } from '../../model/user.js'
import { factorColumns } from '../factor-columns.js'
import { toUser } from '../user-rows.js'
import type { Tables, UsersTable } from './engine/schema.js'
import type { Unit } from './engine/steps.js'

export async function readUser(
  db: Kysely<Tables>,
  column: 'id' | 'email_canonical',
  value: string,
): Promise<UserRecord | null> {
  const row = await db.selectFrom('latchkey_users').selectAll().where(column, '=', value).executeTakeFirst()
  return row ? toUser(row) : null
}

/** Changes nothing, but begins the transaction with a write and locks the user's row until the commit. */
export function holdUser(unit: Unit, id: string) {
  return unit.db
    .updateTable('latchkey_users')
    .set((eb) => ({ version: eb.ref('version') }))
    .where('id', '=', id)
}

/** A condition: the account is not disabled at that time. The SQL form of `isDisabled` in model/user.ts. */
export function isEnabled(now: number) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) =>
    eb.or([eb('latchkey_users.disabled_at', 'is', null), eb('latchkey_users.disabled_until', '<=', now)])
}

/** The opposite. `not` alone would be unknown where `disabled_until` is null. */
export function isDisabled(now: number) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) =>
    eb.and([
      eb('latchkey_users.disabled_at', 'is not', null),
      eb.or([eb('latchkey_users.disabled_until', 'is', null), eb('latchkey_users.disabled_until', '>', now)]),
    ])
}

/** A condition: the password of the account counts. */
export function needsNoReset(eb: ExpressionBuilder<Tables, 'latchkey_users'>) {
  return eb.or([eb('latchkey_users.must_reset', 'is', null), eb('latchkey_users.must_reset', '=', 0)])
}

export const userColumns = [
  'id',
  'email',
  'email_canonical',
  'email_verified',
  'verified_by',
  'name',
  'password_hash',
  'roles',
  'fields',
  'version',
  'disabled_at',
  'disabled_until',
  'disabled_reason',
  'must_reset',
  ...factorColumns,
  'passkey_handle',
  'identities',
  'created_at',
  'last_login_at',
] as const satisfies readonly (keyof UsersTable)[]
