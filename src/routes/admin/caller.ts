import type { AdminCommand } from '../../contract/admin-command.js'
import { AuthError } from '../../errors.js'
import {
  type AdminRule,
  type AdmittedToken,
  refuseAdminToken,
  requireAdmin,
  requireAdminToken,
} from '../../flows/control/require-admin.js'
import type { RouteContext, SignedIn } from '../../http/route.js'
import { adminTokenMemorySeconds } from '../../model/admin-token.js'
import { spacePath } from '../../model/control-path.js'
import type { Right } from '../../model/right.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'

/**
 * Who called a route that admin tokens may call too. `visitor` goes to the flow: it names the caller as the actor, and the
 * space that the path names.
 */
export type Caller = SessionCaller | TokenCaller

export interface SessionCaller extends SignedIn {
  kind: 'session'
  right: Right
}

export interface TokenCaller extends AdmittedToken {
  kind: 'adminToken'
}

/** What a route asks of its caller. */
export interface AskedOfCaller extends AdminRule {
  method: string
  /** Its path as the table has it, without values. */
  path: string
}

/**
 * A signed-in administrator. A request with an admin token is refused.
 *
 * @throws {AuthError}
 */
export async function requireSession(context: RouteContext, asked: AskedOfCaller): Promise<SessionCaller> {
  await refuseAnyAdminToken(context, asked)
  const admin = await context.session()
  return { kind: 'session', ...admin, right: await requireAdmin(context.ports, admin.principal, asked) }
}

/**
 * A signed-in administrator, or an admin token that is good for this command and space.
 *
 * @throws {AuthError}
 */
export async function requireCaller(
  context: RouteContext,
  asked: AskedOfCaller & { command: AdminCommand | 'any' },
): Promise<{ caller: Caller; ports: Ports }> {
  const { adminToken: text, ports, visitor } = context
  if (text === null) {
    const session = await requireSession(context, asked)
    const inside = await inSpace(context, session.visitor)
    return { caller: { ...session, visitor: inside.visitor }, ports: inside.ports }
  }
  const rule = { command: asked.command, route: nameOf(asked) }
  const admitted = await requireAdminToken(ports, { text, visitor }, rule)
  const { spaces } = admitted.token
  const inside = await inSpace(context, admitted.visitor).catch((error: unknown) => {
    // A narrowed token does not learn which other spaces exist.
    if (spaces !== null && error instanceof AuthError && error.code === 'space_not_found') return null
    throw error
  })
  const space = inside?.visitor.space
  if (inside === null || (spaces !== null && space !== undefined && !spaces.includes(space.id))) {
    return refuseAdminToken(ports, admitted, { ...rule, detail: 'This admin token is not for this space.' })
  }
  return { caller: { kind: 'adminToken', token: admitted.token, visitor: inside.visitor }, ports: inside.ports }
}

/**
 * Judges a caller again whose request takes long. It rejects once the token is removed or has expired, the session has ended, the
 * account has changed, or the right is gone. While the store does not answer, a token counts for a minute.
 */
export function stillAllowed(
  { ports, adminToken, visitor }: RouteContext,
  caller: Caller,
  { who }: Pick<AskedOfCaller, 'who'>,
): () => Promise<void> {
  if (caller.kind === 'adminToken') {
    let knownAtMs = ports.clock.monotonicMs()
    return async () => {
      try {
        await ports.adminTokens?.identify(adminToken ?? '', visitor)
        knownAtMs = ports.clock.monotonicMs()
      } catch (error) {
        // What this process remembers of a token is good for as long.
        const isRecent = ports.clock.monotonicMs() - knownAtMs < adminTokenMemorySeconds * 1_000
        if (!(error instanceof AuthError) || error.code !== 'store_unavailable' || !isRecent) throw error
      }
    }
  }
  const { principal } = caller
  const version = ports.revocations.deadBelow(principal.userId)
  return async () => {
    const isOver =
      ports.revocations.isEnded(principal.sessionId) || ports.revocations.deadBelow(principal.userId) > version
    if (isOver) throw new AuthError('token_revoked')
    const right = ports.rights.of(principal)
    if (right === null || (who === 'admin' && right !== 'ADMIN')) throw new AuthError('forbidden')
  }
}

/** @throws {AuthError} `admin_token_not_for_this`, or why the token counts for nothing */
export async function refuseAnyAdminToken(
  { adminToken: text, ports, visitor }: RouteContext,
  asked: Pick<AskedOfCaller, 'method' | 'path'>,
): Promise<void> {
  if (text !== null) await requireAdminToken(ports, { text, visitor }, { command: null, route: nameOf(asked) })
}

/** After the caller was judged: whether a space exists is not told to strangers. @throws {AuthError} `space_not_found` */
export async function inSpace(context: RouteContext, visitor: Visitor): Promise<{ ports: Ports; visitor: Visitor }> {
  if (context.space === null) return { ports: context.ports, visitor }
  const { space, ...ports } = await context.space()
  return { ports: { ...context.ports, ...ports }, visitor: { ...visitor, space } }
}

/** A path below `/admin` or `/admin/api` where its context has it: in the host, what concerns a space is below the space. */
export function placeOf({ space }: Pick<RouteContext, 'space'>, path: string): string {
  return space === null ? path : `${spacePath}${path}`
}

function nameOf({ method, path }: Pick<AskedOfCaller, 'method' | 'path'>): string {
  return `${method} ${path === '' ? '/' : path}`
}
