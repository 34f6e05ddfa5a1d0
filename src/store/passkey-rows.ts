import { sha256 } from '../lib/digest.js'
import { textsIn } from '../lib/json-fields.js'
import type { PasskeyRecord } from '../model/factors/passkey.js'
import { passkeysColumn } from './factor-columns.js'
import { readColumn } from './json-columns.js'
import { type PasskeysTable, toNumber } from './rows.js'

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
export function shownColumn(rows: readonly PasskeysTable[]): string | null {
  const shown = rows.filter(({ suspended_at }) => suspended_at === null)
  return passkeysColumn(shown.map(({ id, rp_id, created_at }) => ({ id, rpId: rp_id, enabledAt: Number(created_at) })))
}
