/** A login at a provider that belongs to a user. No address is part of it: that may change there (ASVS 5.0, 6.8.1). */
export interface Identity {
  /** As in addresses: `google`. */
  provider: string
  /** The provider's own id of the account, compared byte for byte; at most 255 characters, no blank at either end. */
  subject: string
  userId: string
  /** Unix seconds. */
  linkedAt: number
}

/** What a user is shown of one. */
export type LinkedProvider = Pick<Identity, 'provider' | 'linkedAt'>
