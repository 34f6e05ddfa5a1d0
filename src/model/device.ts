/** A browser that a user has signed in with: it holds a secret, we its keyed digest. Times are Unix seconds. */
export interface Device {
  id: string
  userId: string
  tokenHash: string
  createdAt: number
  /** Moves on with every sign-in. */
  expiresAt: number
}
