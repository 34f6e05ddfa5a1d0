/** A passkey of the account, as its owner sees it. Times are ISO 8601 in UTC. */
export interface PasskeyAnswer {
  id: string
  name: string
  /** The password manager or device that holds it, where that is known. */
  provider: string | null
  /** Whether it can be synchronised between devices; false: it stays on one. */
  synced: boolean
  /** False: it does not sign in, because it may be a copy or was made for a former RP id. */
  usable: boolean
  createdAt: string
  lastUsedAt: string | null
}

/** What a browser may know of the account's passkeys, for the signals of WebAuthn L3, 5.1.10. */
export interface PasskeySignals {
  rpId: string
  userId: string
  credentialIds: readonly string[]
  name: string
  displayName: string
}

/** What a ceremony begins with, as far as it is read here. */
export interface CeremonyAnswer {
  options: { rpId?: string /** Milliseconds. */; timeout: number }
}
