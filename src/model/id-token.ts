/** What an id_token must say to count (OpenID Connect Core §3.1.3.7). */
export interface IdTokenRules {
  /** Address of the issuer's key set. */
  keySetUrl: string
  /** Accepted signatures; asymmetric ones only are ever considered. */
  algorithms: readonly string[]
  clientId: string
  nonce: string
  /** What came with it: `at_hash`, where there is one, must be of it. */
  accessToken: string
  isIssuer(issuer: string): boolean
}

/** Why an id_token does not count. */
export type IdTokenFault =
  | 'malformed'
  | 'algorithm'
  | 'keys_unavailable'
  | 'unknown_key'
  | 'signature'
  | 'expired'
  | 'claims'
  | 'issuer'
  | 'audience'
  | 'authorized_party'
  | 'issued_at'
  | 'nonce'
  | 'access_token_hash'

/** Claims of a token that keeps every rule. */
export type IdTokenClaims = Readonly<Record<string, unknown>>

export interface IdTokens {
  /** Never throws: what is wrong is told by name. */
  check(token: string, rules: IdTokenRules): Promise<{ claims: IdTokenClaims } | { fault: IdTokenFault }>
}
