import { isoTime } from '../../lib/iso-time.js'
import type { PasskeyRecord } from './passkey.js'
import { passkeyProvider } from './passkey-providers.js'

/** A passkey as its user and the application's own calls see it. Times are ISO 8601 in UTC. */
export interface PasskeyEntry {
  id: string
  name: string
  /** Where it is kept, such as `iCloud Keychain`, as the authenticator says; null where that is not known. */
  provider: string | null
  /** Whether it is synchronised between devices. */
  synced: boolean
  /** False: its counter went back, so it may be a copy. It does not sign in any more. */
  usable: boolean
  createdAt: string
  lastUsedAt: string | null
}

export function toPasskeyEntry(passkey: PasskeyRecord): PasskeyEntry {
  const { id, name, aaguid, synced, suspendedAt, createdAt, lastUsedAt } = passkey
  return {
    id,
    name,
    provider: passkeyProvider(aaguid),
    synced,
    usable: suspendedAt === null,
    createdAt: isoTime(createdAt),
    lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
  }
}
