/**
 * Keyed digests and sealing under the `encryptionKey` setting: HKDF (RFC 5869) makes one key for each purpose, so that
 * a digest or a sealed text of one purpose is worth nothing for another. Every result names its key, `<key id>.<rest>`.
 */
export interface Keyring {
  /** HMAC-SHA-256 under the newest key. */
  digest(purpose: string, value: string): string
  /** The digests under every key, newest first: what a stored one may look like. */
  digests(purpose: string, value: string): string[]
  /** AES-256-GCM under the newest key; `context` is authenticated with it. */
  seal(purpose: string, context: string, text: string): string
  /** Opens what `seal` made; null when the key is gone or anything was changed. */
  open(purpose: string, context: string, sealed: string): string | null
  /** Ids of all keys, newest first. */
  keyIds: readonly string[]
}
