import type { Kysely } from 'kysely'
import type { PasskeyProof } from '../../model/factors/passkey.js'
import { shownColumn } from '../passkey-rows.js'
import type { PasskeysTable } from '../rows.js'
import type { Tables } from './engine/schema.js'
import type { Unit } from './engine/steps.js'
import { requireOne } from './user-passwords.js'

/** The columns of a passkey beside all columns of its user. Those of the same name have another one. */
export const columnsBesideUser = [
  'latchkey_passkeys.id as passkey_id',
  'latchkey_passkeys.name as passkey_name',
  'latchkey_passkeys.created_at as passkey_created_at',
  'latchkey_passkeys.user_id',
  'latchkey_passkeys.rp_id',
  'latchkey_passkeys.credential_hash',
  'latchkey_passkeys.credential_id',
  'latchkey_passkeys.public_key',
  'latchkey_passkeys.algorithm',
  'latchkey_passkeys.sign_count',
  'latchkey_passkeys.backup_eligible',
  'latchkey_passkeys.backed_up',
  'latchkey_passkeys.transports',
  'latchkey_passkeys.aaguid',
  'latchkey_passkeys.user_handle',
  'latchkey_passkeys.suspended_at',
  'latchkey_passkeys.last_used_at',
] as const

/** The user's passkeys, the oldest first. */
export function passkeysOf(db: Kysely<Tables>, userId: string): Promise<PasskeysTable[]> {
  return db
    .selectFrom('latchkey_passkeys')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** Writes into the user's row, which the caller has locked, which passkeys it shows. */
export async function recordPasskeys(unit: Pick<Unit, 'db'>, userId: string): Promise<void> {
  const passkeys = shownColumn(await passkeysOf(unit.db, userId))
  await unit.db.updateTable('latchkey_users').set({ passkeys }).where('id', '=', userId).execute()
}

/** Passkeys that were added in that second or later: the owner can add one again, but a thief's would stay. */
export async function dropPasskeysSince(unit: Pick<Unit, 'db'>, userId: string, since: number): Promise<void> {
  await unit.db.deleteFrom('latchkey_passkeys').where('user_id', '=', userId).where('created_at', '>=', since).execute()
  await recordPasskeys(unit, userId)
}

/** Keeps what the authenticator said. @throws {Refused} when the passkey was used meanwhile, is suspended or gone */
export async function spendPasskey(
  unit: Pick<Unit, 'db'>,
  userId: string,
  { id, seenCount, signCount, backedUp }: PasskeyProof,
  now: number,
): Promise<void> {
  const usable = unit.db
    .updateTable('latchkey_passkeys')
    .set({ sign_count: signCount, backed_up: backedUp ? 1 : 0, last_used_at: now })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('suspended_at', 'is', null)
  const spent = seenCount === null ? usable : usable.where('sign_count', '=', seenCount)
  requireOne(await spent.executeTakeFirst())
}
