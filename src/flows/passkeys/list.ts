import { AuthError } from '../../errors.js'
import { isUsable, type PasskeyRecord } from '../../model/factors/passkey.js'
import type { SessionPrincipal } from '../../model/principal.js'
import { withoutFactor } from '../../model/second-factor.js'
import type { Session, SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { readProfile } from '../account/profile.js'
import { requireFresh } from '../account/require-password.js'
import { sessionInPlace } from '../session/open-session.js'
import { requireSecondStep } from '../session/sign-in.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil, type IssuedSession, issueTokens } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { currentRpId, factorsHere } from '../steps/usable-factors.js'
import { requirePasskeys } from './challenge.js'

/** What a page tells the browser, so that it forgets removed passkeys and shows the current name (WebAuthn §5.1.10). */
export interface Signals {
  rpId: string
  /** What authenticators keep as the user. */
  userId: string
  credentialIds: readonly string[]
  name: string
  displayName: string
}

/**
 * The user's passkeys, the oldest first, also those that may not be used here. `signals` is null while no authenticator knows the user by
 * the one name that we keep: before the first passkey, and after an import without it.
 *
 * @throws {AuthError} `passkeys_disabled`, `token_revoked`
 */
export async function listPasskeys(
  ports: Pick<Ports, 'passkeys' | 'sessions' | 'policy'>,
  principal: SessionPrincipal,
): Promise<{ passkeys: readonly PasskeyRecord[]; signals: Signals | null }> {
  const site = requirePasskeys(ports)
  const { user } = await readProfile(ports, principal)
  const passkeys = await ports.passkeys.list(user.id)
  const userId = await ports.passkeys.handleOf(user.id)
  if (userId === null) return { passkeys, signals: null }
  const own = passkeys.filter((passkey) => isUsable(passkey, site) && passkey.userHandle === userId)
  const credentialIds = own.map(({ credentialId }) => credentialId)
  const { email: name } = user
  return { passkeys, signals: { rpId: site.rpId, userId, credentialIds, name, displayName: user.name ?? name } }
}

/** The passkeys of a user, for the application. */
export function listPasskeysOf({ passkeys }: Pick<Ports, 'passkeys'>, userId: string): Promise<PasskeyRecord[]> {
  return passkeys.list(userId)
}

/** @throws {AuthError} `passkeys_disabled`, `not_found`, also for the passkey of another user */
export async function renamePasskey(
  ports: Pick<Ports, 'passkeys' | 'policy' | 'clock' | 'random'>,
  { userId, sessionId }: SessionPrincipal,
  { id, name, visitor }: { id: string; name: string; visitor: Visitor },
): Promise<PasskeyRecord> {
  requirePasskeys(ports)
  const audit = auditEvent(ports, 'passkey_renamed', visitor, { userId, sessionId })
  const renamed = await ports.passkeys.rename(userId, id, name, audit)
  if (!renamed) throw new AuthError('not_found')
  return renamed
}

type RemovePasskeyPorts = PasswordLimitPorts &
  Pick<Ports, 'passkeys' | 'sessions' | 'passwords' | 'tokens' | 'mails' | 'audit' | 'random' | 'policy'>

interface RemovePasskeyInput {
  id: string
  /** null: the sign-in must be recent. */
  password: string | null
  mode: SessionMode
  visitor: Visitor
  device: string | null
}

/**
 * Removes a passkey of the signed-in user, also while passkeys are off. Every session ends, and a new one begins: the passkey may have opened
 * any of them.
 *
 * @throws {AuthError} `not_found`, also for the passkey of another user, `last_credential`, `invalid_credentials`,
 *   `recent_login_required`, `rate_limited`, `forbidden` (the other mode's session), `token_revoked`, `busy`
 */
export async function removePasskey(
  ports: RemovePasskeyPorts,
  principal: SessionPrincipal,
  input: RemovePasskeyInput,
): Promise<IssuedSession> {
  const state = await readProfile(ports, principal)
  if (state.session.mode !== input.mode) throw new AuthError('forbidden')
  requireSecondStep(ports, state)
  const passkey = await findOwn(ports, state.user.id, input.id)
  await requireFresh(ports, state, { ...input, event: 'passkey_removed' })

  const session = successor(ports, state, passkey, input.visitor)
  const by = { fromSessionId: state.session.id, session, rpId: currentRpId(ports) }
  const step = removalStep(ports, state.user, { ...input, passkey, sessionId: session.id })
  const removed = await ports.passkeys.remove({ userId: state.user.id, id: passkey.id, by }, step)
  if (removed === 'last') throw new AuthError('last_credential')
  if (removed === null) return refuseRemoval(ports, passkey)
  return issueTokens(ports, removed, session)
}

/**
 * The same for the application, which may remove the last way into an account. Every session of the user ends.
 *
 * @throws {AuthError} `not_found`
 */
export async function removePasskeyOf(
  ports: Pick<Ports, 'passkeys' | 'users' | 'mails' | 'clock' | 'random'>,
  { userId, id, visitor }: { userId: string; id: string; visitor: Visitor },
): Promise<void> {
  const user = await ports.users.findById(userId)
  if (!user) throw new AuthError('not_found')
  const passkey = await findOwn(ports, userId, id)
  const step = removalStep(ports, user, { passkey, sessionId: null, visitor })
  if (!(await ports.passkeys.remove({ userId, id, by: null }, step))) throw new AuthError('not_found')
}

async function findOwn({ passkeys }: Pick<Ports, 'passkeys'>, userId: string, id: string): Promise<PasskeyRecord> {
  const passkey = (await passkeys.list(userId)).find((each) => each.id === id)
  if (!passkey) throw new AuthError('not_found')
  return passkey
}

/** A concurrent removal takes the passkey and ends the session. Its caller has the new session, so only the passkey is missing. */
async function refuseRemoval(ports: Pick<Ports, 'passkeys'>, { userId, id }: PasskeyRecord): Promise<never> {
  await findOwn(ports, userId, id)
  throw new AuthError('token_revoked')
}

function removalStep(
  ports: Pick<Ports, 'mails' | 'clock' | 'random'>,
  user: UserRecord,
  { passkey, sessionId, visitor }: { passkey: PasskeyRecord; sessionId: string | null; visitor: Visitor },
): Parameters<Ports['passkeys']['remove']>[1] {
  const values = { name: passkey.name, suspended: '' }
  return {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'passkey_removed', visitor, { userId: user.id, sessionId }),
    ...notice(ports, 'passkey-removed', { user, userAgent: visitor.userAgent, values }),
  }
}

/** Without any second factor that works here, the new session has proved none. */
function successor(
  ports: Pick<Ports, 'clock' | 'random' | 'policy'>,
  state: SessionState,
  { id }: PasskeyRecord,
  visitor: Visitor,
): Session {
  const { amr } = state.session
  const left = factorsHere(ports, state.user).filter((factor) => factor.kind !== 'passkey' || factor.id !== id)
  return sessionInPlace(ports, state, { amr: left.length > 0 ? amr : withoutFactor(amr), visitor })
}
