/** Claims of our access token. Times are Unix seconds. */
export interface AccessClaims {
  sub: string
  sid: string
  /** The rotation it came with. */
  ctr: number
  /** The user's version when it was signed. */
  ver: number
  email: string
  email_verified: boolean
  roles: readonly string[]
  amr: readonly string[]
  auth_time: number
  iat: number
  exp: number
}

/** Claims of our refresh token. Times are Unix seconds. */
export interface RefreshClaims {
  sub: string
  sid: string
  ctr: number
  iat: number
  exp: number
}

/** Signs and checks our own tokens. Synchronous: nothing here awaits, reads the store or queues in a thread pool. */
export interface Tokens {
  /** Loads what signing needs. A signature before that loads it at once, which a bundle cannot. */
  prepareSigning(): Promise<void>
  signAccess(claims: AccessClaims): string
  /** The same claims give the same token, byte for byte. */
  signRefresh(claims: RefreshClaims): string
  /** Null for everything that is not a sound access token of ours; never throws. Expiry is the caller's question. */
  checkAccess(token: string): AccessClaims | null
  /** Null for everything that is not a sound refresh token of ours; never throws. Expiry is the caller's question. */
  checkRefresh(token: string): RefreshClaims | null
}
