/** Who the guard found behind a request. Deep-frozen. */
export type Principal = SessionPrincipal | ApiTokenPrincipal | JwtPrincipal | HookPrincipal

export interface SessionPrincipal {
  kind: 'session'
  userId: string
  sessionId: string
  email: string
  emailVerified: boolean
  roles: readonly string[]
  /** Authentication methods, RFC 8176. */
  amr: readonly string[]
  /** Unix seconds of the last time the user proved who they are. */
  authTime: number
}

export interface ApiTokenPrincipal {
  kind: 'apiToken'
  tokenId: string
  name: string
  access: 'READ' | 'READWRITE'
}

export interface JwtPrincipal {
  kind: 'jwt'
  subject: string
  issuer: string
  claims: Readonly<Record<string, unknown>>
}

export interface HookPrincipal {
  kind: 'hook'
  subject: string
  claims: Readonly<Record<string, unknown>>
}
