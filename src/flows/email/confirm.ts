import { AuthError } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Session, SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import { signedInVisitor, type Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { Drafted } from '../registration/draft.js'
import { auditEvent } from '../steps/audit.js'
import { draftEmailToken, findEmailToken, undoDays } from '../steps/email-tokens.js'
import { changeMattersUntil, type IssuedSession, issueAccess } from '../steps/issue-tokens.js'
import { lastAdminFault } from '../steps/last-admin.js'
import { circumstances } from '../steps/notices.js'

export type ConfirmEmailPorts = Pick<
  Ports,
  | 'users'
  | 'sessions'
  | 'oneTimeTokens'
  | 'tokens'
  | 'proofs'
  | 'keyring'
  | 'mails'
  | 'random'
  | 'clock'
  | 'policy'
  | 'home'
>

export interface ConfirmEmailInput {
  token: string
  /** The user who is signed in where the link was opened. The link alone suffices. */
  caller: SessionPrincipal | null
  mode: SessionMode
  /** Without an actor: the caller acts only for their own account. */
  visitor: Visitor
}

/**
 * Gives an account the address that the link was mailed to. A verified former address gets a notice with a link to take the
 * account back (ASVS 5.0, 6.3.7). Sessions go on. Every access token with the former address is revoked, and a caller who is
 * signed in as that user gets a fresh one.
 *
 * @throws {AuthError} `invalid_token` (unknown, used, replaced, expired, and of a disabled account look alike),
 *   `email_taken` when another account got the address meanwhile, `would_lock_out` for the last administrator (in the host
 *   `last_admin`), whose account would be none with this address, or not proved
 */
export async function confirmEmail(ports: ConfirmEmailPorts, input: ConfirmEmailInput): Promise<IssuedSession | null> {
  const found = await findEmailToken(ports, 'email_change', input.token)
  if (!found || found.version !== found.user.version) throw new AuthError('invalid_token')
  const { token, user, typed, version } = found

  // In the browser of another user the mailed link counts, not their session.
  const { caller } = input
  const own = caller?.userId === user.id ? caller : null
  const visitor = own ? signedInVisitor(input.visitor, own) : input.visitor
  // A click alone does not show that the account is the mailbox owner's: a stranger may have sent them the link.
  const verifiedBy = own ? 'mailbox' : null
  const undo = draftUndo(ports, user, visitor)
  const change = { email: typed, verifiedBy, version, undo, keepAdmin: ports.policy.adminEmails } as const
  const changed = await ports.users.changeEmail(token.id, change, ports.clock.now(), {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'email_changed', visitor, { userId: user.id }),
  })
  if (changed === 'last_admin') throw lastAdminFault(ports, lastAdminCure(ports))
  if (changed === 'taken') throw new AuthError('email_taken')
  if (!changed) throw new AuthError('invalid_token')
  return freshAccess(ports, changed, input)
}

function lastAdminCure({ home }: Pick<Ports, 'home'>): string {
  const cure = 'You are the last administrator. Open the link in the browser where you are signed in.'
  return home === 'host' ? cure : `${cure} The new address must be one of admin.emails.`
}

/** The notice to the former address. It does not name the new one, which may be a thief's or private. */
function draftUndo(ports: ConfirmEmailPorts, user: UserRecord, visitor: Visitor): Drafted {
  const former = { typed: user.email, canonical: user.emailCanonical }
  const { token, url } = draftEmailToken(ports, 'email_undo', user, former)
  const mail = ports.mails.compose('email-changed', user.emailCanonical, {
    ...circumstances(ports, visitor.userAgent),
    url,
    lifetimeDays: String(undoDays),
  })
  return { token, mail }
}

/** The change does not depend on it. If the session cannot be read now, a refresh brings the same token. */
async function freshAccess(
  ports: ConfirmEmailPorts,
  user: UserRecord,
  { caller, mode }: ConfirmEmailInput,
): Promise<IssuedSession | null> {
  if (caller?.userId !== user.id) return null
  try {
    await ports.proofs.settle(caller.sessionId)
    const state = await ports.sessions.find(caller.sessionId)
    return state && state.session.mode === mode ? await issueAccess(ports, user, asHeld(state.session)) : null
  } catch (error) {
    if (error instanceof AuthError) return null
    throw error
  }
}

/**
 * The session at the rotation that its holder is known to have. A token of the unproven rotation must not be issued here: the
 * answer of that rotation may be lost, and such a token would prove it. Then the holder's older token would look stolen.
 */
function asHeld(session: Session): Session {
  if (session.counter === 0 || session.provenAtMs !== null) return session
  return { ...session, counter: session.counter - 1 }
}
