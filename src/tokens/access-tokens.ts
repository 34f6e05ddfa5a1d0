/** Claims of our access token. Times are Unix seconds. */
export interface AccessClaims {
  sub: string
  sid: string
  /** The counter of the rotation that issued it. */
  ctr: number
  /** The user's version when it was signed. */
  ver: number
  email: string
  email_verified: boolean
  /** Only where the address is proved, as the role ADMIN needs it. */
  email_proved?: true
  roles: readonly string[]
  amr: readonly string[]
  auth_time: number
  /** The administrator who impersonates the user (RFC 8693 §4.1), with their session and version. */
  act?: ActorClaim
  iat: number
  exp: number
}

export interface ActorClaim {
  sub: string
  sid: string
  ver: number
  /** The latest end of the impersonation. */
  exp: number
}

/** Claims of our refresh token. Times are Unix seconds. */
export interface RefreshClaims {
  sub: string
  sid: string
  ctr: number
  /** The session that an impersonated session came from. */
  act?: string
  iat: number
  exp: number
}

/** Signs and checks our own tokens. Synchronous: nothing here awaits, reads the store or queues in a thread pool. */
export interface Tokens {
  /** The `kid` of the access tokens that this process signs. */
  accessKeyId: string
  /** Loads the signing package. Without this call, the first signature loads it synchronously, which fails in a bundle. */
  prepareSigning(): Promise<void>
  /** Rejects if a bundle contains the signing package in a form that does not load. */
  checkSigning(): Promise<void>
  signAccess(claims: AccessClaims): string
  /** The same claims give the same token, byte for byte. */
  signRefresh(claims: RefreshClaims): string
  /** Null for everything that is not a sound access token of ours; never throws. Expiry is the caller's question. */
  checkAccess(token: string): AccessClaims | null
  /** Null for everything that is not a sound refresh token of ours; never throws. Expiry is the caller's question. */
  checkRefresh(token: string): RefreshClaims | null
}
