import type { Actor } from './actor.js'

/** Who asks, as far as audit, notices and limits are concerned. */
export interface Visitor {
  /** Canonical address, read through `trustedProxies`; null when it cannot be known. */
  ip: string | null
  userAgent: string | null
  /** Taken from the credential; null for a request without one. */
  actor: Actor | null
  /** The space that an administrator of the host changes. Its audit events name it. */
  space?: SpaceName
  /** Request and response for hooks that expect those of their framework. We never read them. */
  native?: () => NativeExchange
}

/** A space of the host: its id, which is never used again, and its name. */
export interface SpaceName {
  id: string
  name: string
}

/** Request and response as the framework hands them to its handlers. */
export interface NativeExchange {
  request: unknown
  response: unknown
}

/** Latchkey itself, where no request is the cause. */
export const systemVisitor: Visitor = visitorWithoutRequest({ kind: 'system' })

/** Frozen: one object serves every call. */
export function visitorWithoutRequest(actor: Actor): Visitor {
  return Object.freeze({ ip: null, userAgent: null, actor: Object.freeze(actor) })
}

/** The same visitor, known to be signed in with that session. While an administrator impersonates, they are the actor. */
export function signedInVisitor(
  visitor: Visitor,
  {
    userId,
    sessionId,
    actor,
  }: { userId: string; sessionId: string; actor?: { userId: string; sessionId: string } | null },
): Visitor {
  const who = actor ? { ...ids(actor), impersonating: userId } : { userId, sessionId, impersonating: null }
  return { ...visitor, actor: { kind: 'user', ...who } }
}

function ids({ userId, sessionId }: { userId: string; sessionId: string }): { userId: string; sessionId: string } {
  return { userId, sessionId }
}
