import { AuthError } from '../../../errors.js'
import { impersonationMailId, type OutboxMail } from '../../../model/outbox-mail.js'
import type { SessionPrincipal } from '../../../model/principal.js'
import { type ImpersonatedSession, impersonatedAmr } from '../../../model/session.js'
import type { UserRecord } from '../../../model/user.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { SessionState } from '../../../store/sessions.js'
import { newSession } from '../../session/open-session.js'
import { mayImpersonate } from '../../steps/acting.js'
import { auditEvent } from '../../steps/audit.js'
import { changeMattersUntil, type IssuedSession, type IssuePorts, issueTokens } from '../../steps/issue-tokens.js'
import { requireRoom } from '../require-admin.js'

export type ImpersonatePorts = IssuePorts & Pick<Ports, 'users' | 'limiter' | 'mails' | 'random'>

export interface ImpersonateInput {
  /** The administrator, whose browser sent their access token as a cookie. */
  principal: SessionPrincipal
  /** The user. */
  id: string
  /** Why, in the words of the administrator. */
  reason: string
  visitor: Visitor
}

/**
 * Opens a session in which an administrator acts as a user, for a time that nothing extends. It replaces the administrator's
 * own session, which expires: the end of one is the end of both, and the administrator signs in again (ASVS 5.0, 7.4.1).
 *
 * It is no sign-in: no hook runs, and last login, known devices and other sessions of the user stay as they are.
 *
 * @throws {AuthError} `not_found`, `rate_limited`, `impersonation_forbidden` for an administrator, a user of `exceptRoles`, a
 *   disabled account, oneself, and by a session of a client without cookies
 */
export async function impersonate(ports: ImpersonatePorts, input: ImpersonateInput): Promise<IssuedSession> {
  const { principal, id, reason, visitor } = input
  const rules = ports.policy.admin.impersonation
  const own = await ports.sessions.find(principal.sessionId)
  if (own?.user.id !== principal.userId) throw new AuthError('token_revoked')
  if (rules === null || own.session.mode !== 'cookie') throw new AuthError('impersonation_forbidden')
  const user = await ports.users.findById(id)
  if (!user) throw new AuthError('not_found')
  if (!mayImpersonate(ports, own.user, user)) throw new AuthError('impersonation_forbidden')
  await requireRoom(ports, 'impersonation', principal.userId)

  const session = draft(ports, { own, user, visitor }, rules.lifetimeSeconds)
  const ids = { userId: user.id, sessionId: session.id }
  const acting = { kind: 'user', ...session.actor, impersonating: user.id } as const
  const mail = noticeOf(ports, { user, administrator: own.user, session })
  const begun = await ports.sessions.impersonate(session, {
    version: user.version,
    actorVersion: own.user.version,
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'impersonation_started', { ...visitor, actor: acting }, { ...ids, detail: { reason } }),
    ...(mail && { mail }),
  })
  // One of the two accounts or the administrator's session has changed meanwhile.
  if (!begun) throw new AuthError('impersonation_forbidden')
  return issueTokens(ports, user, session)
}

function draft(
  ports: ImpersonatePorts,
  { own, user, visitor }: { own: SessionState } & Pick<Parameters<typeof newSession>[1], 'user' | 'visitor'>,
  lifetimeSeconds: number,
): ImpersonatedSession {
  const fresh = newSession(ports, { user, mode: 'cookie', amr: impersonatedAmr, visitor })
  const expiresAt = Math.min(fresh.createdAt + lifetimeSeconds, own.session.expiresAt)
  return {
    ...fresh,
    authTime: 0,
    expiresAt,
    refreshExpiresAt: Math.min(fresh.refreshExpiresAt, expiresAt),
    actor: { userId: own.user.id, sessionId: own.session.id },
  }
}

/** The notice to the user, held until the impersonation ends. An unverified address gets none, as of any notice. */
function noticeOf(
  ports: Pick<Ports, 'mails' | 'policy'>,
  { user, administrator, session }: { user: UserRecord; administrator: UserRecord; session: ImpersonatedSession },
): OutboxMail | null {
  if (!user.emailVerified || ports.policy.admin.impersonation?.notify === false) return null
  const values = { name: administrator.name ?? '', at: new Date(1_000 * session.createdAt).toISOString() }
  const held = { id: impersonationMailId(session.id), dueAt: session.expiresAt }
  return ports.mails.compose('impersonated', user.emailCanonical, values, held)
}
