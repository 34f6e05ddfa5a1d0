import { isObject, parseJson } from '../lib/json-object.js'

/** Who caused an audit event. It comes from the credential of the request, never from its content. */
export type Actor =
  /** A signed-in person, and the account that they act for while they impersonate it. */
  | { kind: 'user'; userId: string; sessionId: string; impersonating: string | null }
  /** An admin token of the host. */
  | { kind: 'adminToken'; tokenId: string }
  /** The command-line tool with the store opened directly. */
  | { kind: 'tool'; osUser: string }
  /** The application's own code, which calls `auth.users`, `auth.access` and the like. */
  | { kind: 'application' }
  /** Latchkey itself: expiry, housekeeping, supervision. */
  | { kind: 'system' }

/** The id that the audit log is filtered by: a user's or an admin token's. The other kinds have none. */
export function actorId(actor: Actor | null): string | null {
  if (actor?.kind === 'user') return actor.userId
  return actor?.kind === 'adminToken' ? actor.tokenId : null
}

/** Reads the JSON text that the store keeps. Null for a text that describes no actor. */
export function parseActor(text: string): Actor | null {
  const value = parseJson(text)
  if (!isObject(value)) return null
  const { kind, userId, sessionId, impersonating, tokenId, osUser } = value
  if (kind === 'application' || kind === 'system') return { kind }
  if (kind === 'adminToken' && typeof tokenId === 'string') return { kind, tokenId }
  if (kind === 'tool' && typeof osUser === 'string') return { kind, osUser }
  if (kind !== 'user' || typeof userId !== 'string' || typeof sessionId !== 'string') return null
  if (impersonating !== null && typeof impersonating !== 'string') return null
  return { kind, userId, sessionId, impersonating }
}
