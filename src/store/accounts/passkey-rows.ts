import { sha256 } from '../../lib/digest.js'
import { textsIn } from '../../lib/json-fields.js'
import type { PasskeyProof, PasskeyRecord } from '../../model/factors/passkey.js'
import { passkeysColumn } from '../factor-columns.js'
import { readColumn } from '../json-columns.js'
import { Refused } from '../refused.js'
import { type PasskeysTable, toNumber } from '../rows.js'
import { passkeys } from '../tables.js'
import type { Unit, View } from '../unit.js'

/** What rows are found by, because a credential's id may have 1,023 bytes. */
export function credentialHash(credentialId: string): string {
  return sha256(credentialId)
}

/** No handle is empty (WebAuthn §5.4.3). */
const unknownHandle = ''

export function toPasskeyRow(passkey: PasskeyRecord): PasskeysTable {
  return {
    id: passkey.id,
    user_id: passkey.userId,
    rp_id: passkey.rpId,
    credential_hash: credentialHash(passkey.credentialId),
    credential_id: passkey.credentialId,
    public_key: passkey.publicKey,
    algorithm: passkey.algorithm,
    sign_count: passkey.signCount,
    backup_eligible: passkey.synced ? 1 : 0,
    backed_up: passkey.backedUp ? 1 : 0,
    transports: JSON.stringify(passkey.transports),
    aaguid: passkey.aaguid,
    name: passkey.name,
    user_handle: passkey.userHandle ?? unknownHandle,
    suspended_at: passkey.suspendedAt,
    created_at: passkey.createdAt,
    last_used_at: passkey.lastUsedAt,
  }
}

export function toPasskey(row: PasskeysTable): PasskeyRecord {
  return {
    id: row.id,
    userId: row.user_id,
    rpId: row.rp_id,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    algorithm: Number(row.algorithm),
    signCount: Number(row.sign_count),
    synced: Number(row.backup_eligible) === 1,
    backedUp: Number(row.backed_up) === 1,
    transports: readColumn(row, 'transports', textsIn),
    aaguid: row.aaguid,
    name: row.name,
    userHandle: row.user_handle === unknownHandle ? null : row.user_handle,
    suspendedAt: toNumber(row.suspended_at),
    createdAt: Number(row.created_at),
    lastUsedAt: toNumber(row.last_used_at),
  }
}

/** The column of the user's row, from the user's passkeys with the oldest first: those of every RP id that are not suspended. */
function shownColumn(rows: readonly PasskeysTable[]): string | null {
  const shown = rows.filter(({ suspended_at }) => suspended_at === null)
  return passkeysColumn(shown.map(({ id, rp_id, created_at }) => ({ id, rpId: rp_id, enabledAt: Number(created_at) })))
}

/** The user's passkeys, the oldest first. */
export function passkeysOf(view: View, userId: string): Promise<PasskeysTable[]> {
  return view.find(passkeys, { user_id: userId }, { sort: { created_at: 1, id: 1 } })
}

/** Locks and returns the user's passkey with that id. Null: the user has no such passkey. */
export async function passkeyOf(unit: Unit, userId: string, id: string): Promise<PasskeysTable | null> {
  const [row] = await unit.find(passkeys, { user_id: userId, id }, { lock: true })
  return row ?? null
}

/** The column of the user's row, from the user's passkeys as they are now. The caller has locked the user's row. */
export async function shownPasskeys(unit: Unit, userId: string): Promise<string | null> {
  return shownColumn(await passkeysOf(unit, userId))
}

/** Passkeys that were added in that second or later: the owner can add one again, but a thief's would stay. */
export async function dropPasskeysSince(unit: Unit, userId: string, since: number): Promise<string | null> {
  await unit.drop(passkeys, { user_id: userId, created_at: { gte: since } })
  return shownPasskeys(unit, userId)
}

/** Keeps what the authenticator said. @throws {Refused} when the passkey was used meanwhile, is suspended or gone */
export async function spendPasskey(
  unit: Unit,
  userId: string,
  { id, seenCount, signCount, backedUp }: PasskeyProof,
  now: number,
): Promise<void> {
  const row = await passkeyOf(unit, userId, id)
  if (!row || row.suspended_at !== null) throw new Refused()
  if (seenCount !== null && row.sign_count !== seenCount) throw new Refused()
  await unit.put(passkeys, { ...row, sign_count: signCount, backed_up: backedUp ? 1 : 0, last_used_at: now })
}
