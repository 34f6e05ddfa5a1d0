import { AuthError } from '../../errors.js'
import { isUsable, type PasskeyRecord } from '../../model/factors/passkey.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { auditEvent } from '../steps/audit.js'
import { requirePasskeys } from './site.js'

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
