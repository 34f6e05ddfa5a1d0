import { AuthError } from '../../errors.js'
import { deviceLabel } from '../../lib/device-label.js'
import type { PasskeyRecord } from '../../model/factors/passkey.js'
import { passkeyProvider } from '../../model/factors/passkey-entry.js'
import type { CreationResponse, NewCredential } from '../../model/factors/webauthn.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Visitor } from '../../model/visitor.js'
import type { PasskeyPolicy, Ports } from '../../ports.js'
import { readProfile } from '../account/profile.js'
import { requireUsable } from '../session/require-usable.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { type ChallengePorts, claimOneOf, requirePasskeys } from './challenge.js'

export type AddPasskeyPorts = ChallengePorts & Pick<Ports, 'passkeys' | 'sessions' | 'mails' | 'policy'>

export interface AddPasskeyInput {
  response: CreationResponse
  /** null: that of the provider, or of the device. */
  name: string | null
  visitor: Visitor
}

/**
 * Adds a passkey to the account of the signed-in user, by the options that this session asked for. The user is mailed about it.
 *
 * @throws {AuthError} `passkeys_disabled`, `email_not_verified`, `invalid_token` (the challenge), `invalid_passkey`, `passkey_taken`, `passkey_limit`,
 *   `token_revoked`
 */
export async function addPasskey(
  ports: AddPasskeyPorts,
  principal: SessionPrincipal,
  input: AddPasskeyInput,
): Promise<PasskeyRecord> {
  const site = requirePasskeys(ports)
  const { user, session } = await readProfile(ports, principal)
  requireUsable(ports, user)
  const credential = await readNew(ports, site, { sessionId: session.id, response: input.response })
  if (!credential) throw new AuthError('invalid_passkey')
  const handle = await ports.passkeys.handleOf(user.id)
  // The first proof of the mailbox has taken it away, together with this session.
  if (handle === null) throw new AuthError('token_revoked')

  const passkey = toRecord(ports, { ...input, userId: user.id, rpId: site.rpId, handle }, credential)
  const facts = { userId: user.id, sessionId: session.id, detail: { synced: passkey.synced } }
  const values = { name: passkey.name }
  const added = await ports.passkeys.add(
    { passkey, fromSessionId: session.id, max: site.max },
    {
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, 'passkey_added', input.visitor, facts),
      ...notice(ports, 'passkey-added', { user, userAgent: input.visitor.userAgent, values }),
    },
  )
  if (added === 'taken') throw new AuthError('passkey_taken')
  if (added === 'limit') throw new AuthError('passkey_limit')
  if (added === null) throw new AuthError('token_revoked')
  return passkey
}

/** Without a dialog, the authenticator asks nothing of the user. */
async function readNew(
  ports: ChallengePorts,
  site: PasskeyPolicy,
  { sessionId: holder, response }: { sessionId: string; response: CreationResponse },
): Promise<NewCredential | null> {
  const choices = [{ use: 'upgrade', holder } as const, { use: 'registration', holder } as const]
  const { of, clientData } = await claimOneOf(ports, choices, response.clientData)
  const asked = of.use === 'registration'
  return ports.webauthn.readCreation(response, { site, clientData, demands: { present: asked, verified: asked } })
}

function toRecord(
  ports: Pick<Ports, 'clock' | 'random'>,
  of: AddPasskeyInput & { userId: string; rpId: string; handle: string },
  credential: NewCredential,
): PasskeyRecord {
  const { response, visitor, userId, rpId, handle: userHandle } = of
  return {
    ...credential,
    id: ports.random.id(),
    userId,
    rpId,
    transports: response.transports,
    name: of.name ?? passkeyProvider(credential.aaguid) ?? deviceLabel(visitor.userAgent),
    userHandle,
    suspendedAt: null,
    createdAt: ports.clock.now(),
    lastUsedAt: null,
  }
}
