import { isoTime } from '../../lib/iso-time.js'
import { isUsable, type PasskeyRecord } from './passkey.js'
import { passkeyProvider } from './passkey-providers.js'

/** A passkey as its user and the application's own calls see it. Times are ISO 8601 in UTC. */
export interface PasskeyEntry {
  id: string
  name: string
  /** Where it is kept, such as `iCloud Keychain`, as the authenticator says; null where that is not known. */
  provider: string | null
  /** Whether it is synchronised between devices. */
  synced: boolean
  /** False: it does not sign in, because its counter went back, so it may be a copy, or it was made for another RP id. */
  usable: boolean
  createdAt: string
  lastUsedAt: string | null
}

/** @param site what its RP id must be to sign in; null: passkeys are off */
export function toPasskeyEntry(passkey: PasskeyRecord, site: { rpId: string } | null): PasskeyEntry {
  const { id, name, aaguid, synced, createdAt, lastUsedAt } = passkey
  return {
    id,
    name,
    provider: passkeyProvider(aaguid),
    synced,
    usable: isUsable(passkey, site),
    createdAt: isoTime(createdAt),
    lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
  }
}
