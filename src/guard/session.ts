import { AuthError } from '../errors.js'
import { parseEmailAddress } from '../lib/email-address.js'
import type { Moment } from '../lib/shared-clock.js'
import { withAdmin } from '../model/admin-role.js'
import type { SessionPrincipal } from '../model/principal.js'
import type { Proofs } from '../ports.js'
import { lacksFactor } from '../settings/required-factor.js'
import type { Settings } from '../settings.js'
import type { AccessClaims, Tokens } from '../tokens/access-tokens.js'
import type { Revocations } from './revocations.js'

/** A verified access token, cached so that its next request needs one look-up in memory. */
export interface VerifiedToken {
  principal: SessionPrincipal
  version: number
  /** The administrator's version in the token of an impersonated session; 0 in other tokens. */
  actorVersion: number
  /** Unix seconds. */
  expiresAt: number
  /** `twoFactor.required` demands a factor that the session has not proved. */
  lacksFactor: boolean
  /** The token came in an `Authorization` header. A cookie with the same text must not match it. */
  inHeader: boolean
}

/** Bounded cache of verified tokens, keyed by `Bearer ` and the token or by the whole cookie. It holds no failures. */
export interface VerifiedTokens {
  get(sent: string): VerifiedToken | null
  set(sent: string, verified: VerifiedToken): void
  /** Copies the key, since a cookie is a slice of a longer header that it would keep in memory. */
  setCopy(sent: string, verified: VerifiedToken): void
}

export interface SessionCheckPorts {
  settings: Pick<Settings, 'accessTokenSeconds' | 'twoFactor' | 'admin'>
  tokens: Pick<Tokens, 'checkAccess'>
  verified: VerifiedTokens
  revocations: Pick<Revocations, 'isEnded' | 'deadBelow'>
  proofs: Pick<Proofs, 'note'>
  /** False on our own routes, where users set up the second factor that they lack. */
  demandsFactor: boolean
}

/**
 * Turns the access token of a cookie into its principal. Synchronous: no store, no pool, and for a token seen before no
 * cryptography. Every call checks expiry and revocation.
 *
 * @throws {AuthError} `unauthenticated`, `token_expired`, `token_revoked`, `two_factor_enrolment_required`
 */
export function checkCookie(ports: SessionCheckPorts, token: string, at: Moment): SessionPrincipal {
  const known = ports.verified.get(token)
  return admit(ports, known === null || known.inHeader ? verify(ports, token, at, null) : known, at)
}

/** The same for an `Authorization` header that was seen before, else null. No valid cookie begins with `Bearer `. */
export function recallSession(ports: SessionCheckPorts, header: string, at: Moment): SessionPrincipal | null {
  const known = ports.verified.get(header)
  return known === null ? null : admit(ports, known, at)
}

/** The same for a new bearer token; `header` becomes its cache key. */
export function checkBearer(ports: SessionCheckPorts, token: string, header: string, at: Moment): SessionPrincipal {
  return admit(ports, verify(ports, token, at, header), at)
}

function admit(ports: SessionCheckPorts, known: VerifiedToken, at: Moment): SessionPrincipal {
  if (known.expiresAt <= at.now) throw new AuthError('token_expired', { explain: 'access token: expired' })
  if (ports.revocations.isEnded(known.principal.sessionId))
    throw new AuthError('token_revoked', { explain: 'access token: its session has ended' })
  if (known.version < ports.revocations.deadBelow(known.principal.userId)) {
    throw new AuthError('token_expired', { explain: 'access token: its user has changed since' })
  }
  if (known.principal.actor !== null) requireActor(ports, known.principal.actor, known.actorVersion)
  if (known.lacksFactor && ports.demandsFactor) throw new AuthError('two_factor_enrolment_required')
  return known.principal
}

/**
 * An impersonated session ends with the administrator's session, and its tokens with the administrator's version.
 *
 * @throws {AuthError} `token_revoked`, `token_expired`
 */
function requireActor(
  { revocations }: Pick<SessionCheckPorts, 'revocations'>,
  { userId, sessionId }: NonNullable<SessionPrincipal['actor']>,
  version: number,
): void {
  if (revocations.isEnded(sessionId))
    throw new AuthError('token_revoked', { explain: "access token: the administrator's session has ended" })
  if (version < revocations.deadBelow(userId))
    throw new AuthError('token_expired', { explain: 'access token: its administrator has changed since' })
}

function verify(ports: SessionCheckPorts, token: string, at: Moment, header: string | null): VerifiedToken {
  const claims = ports.tokens.checkAccess(token)
  if (!claims) throw new AuthError('unauthenticated', { explain: 'access token: not one of ours' })
  ports.proofs.note(claims.sid, claims.ctr, at.monotonicMs)
  // Revocations are kept for one lifetime. A token signed under a longer setting would outlive its revocation.
  const expiresAt = Math.min(claims.exp, claims.iat + ports.settings.accessTokenSeconds)
  const principal = toPrincipal(claims, ports.settings.admin.emails)
  const verified = {
    principal,
    version: claims.ver,
    actorVersion: claims.act?.ver ?? 0,
    expiresAt,
    lacksFactor: lacksFactor(ports.settings.twoFactor, principal),
    inHeader: header !== null,
  }
  if (header === null) ports.verified.setCopy(token, verified)
  else ports.verified.set(header, verified)
  return verified
}

function toPrincipal(claims: AccessClaims, adminEmails: readonly string[]): SessionPrincipal {
  return Object.freeze({
    kind: 'session',
    userId: claims.sub,
    sessionId: claims.sid,
    email: claims.email,
    emailVerified: claims.email_verified,
    // Frozen, like every list that was read from a token.
    roles: withAdmin(claims.roles, claims.act === undefined && isAdmin(claims, adminEmails)),
    amr: claims.amr,
    authTime: claims.auth_time,
    actor: claims.act
      ? Object.freeze({ userId: claims.act.sub, sessionId: claims.act.sid, endsAt: claims.act.exp })
      : null,
  })
}

function isAdmin({ email, email_verified, email_proved }: AccessClaims, adminEmails: readonly string[]): boolean {
  if (adminEmails.length === 0 || !email_verified || !email_proved) return false
  const address = parseEmailAddress(email)
  return address !== null && adminEmails.includes(address.canonical)
}
