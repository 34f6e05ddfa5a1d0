/** A key that has signed access tokens. */
export interface UsedKey {
  /** The `kid` of the tokens. It names the key and reveals nothing about the secret. */
  kid: string
  /** Unix seconds. */
  firstUsedAt: number
}

/** The keys of the access secrets that ever signed, so that settings with foreign secrets and old keys can be recognised. */
export interface KeyIds {
  /** Notes a key that signs now (Unix seconds). Of many calls for a key, the first one stays. */
  note(kid: string, now: number): Promise<void>

  /** Every key, the one that was used first first. */
  list(): Promise<UsedKey[]>
}
