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
  /** Unix seconds of the last time the user proved who they are; 0 for an impersonated session. */
  authTime: number
  /** The administrator who impersonates the user; null otherwise. */
  actor: ImpersonatingActor | null
}

export interface ImpersonatingActor {
  readonly userId: string
  /** The administrator's session, which ends with the impersonated one. */
  readonly sessionId: string
  /** When the impersonation ends at the latest, Unix seconds. */
  readonly endsAt: number
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
