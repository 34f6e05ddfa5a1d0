import { AuthError } from '../../errors.js'
import type { PasskeyProof, PasskeyRecord } from '../../model/factors/passkey.js'
import type { Claims, ClientData, SignedResponse } from '../../model/factors/webauthn.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { PasskeyPolicy, Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'

export type VerifyPasskeyPorts = Pick<
  Ports,
  'passkeys' | 'webauthn' | 'mails' | 'audit' | 'clock' | 'random' | 'policy'
>

/** A passkey whose signature is right. */
export interface VerifiedPasskey {
  passkey: PasskeyRecord
  user: UserRecord
  claims: Claims
}

export interface Expected {
  site: PasskeyPolicy
  /** Of the response. Its challenge is used up. */
  clientData: ClientData
  /** Whether the authenticator must have checked a PIN, a finger or a face. */
  verified: boolean
  /** The user who must own the passkey; null: the response names them. */
  userId: string | null
  /** Told whose the passkey is before it is checked, for the audit log. */
  onUser?: (userId: string) => void
}

/**
 * Checks a response in the order of WebAuthn §7.2: the site, what was asked of the user, the passkey and its user, the signature, and that the
 * passkey is still of its kind. An unknown passkey costs a signature check, too.
 *
 * @throws {AuthError} `invalid_passkey`; with `unknown` when no account has that credential
 */
export async function verifyPasskey(
  { passkeys, webauthn }: Pick<Ports, 'passkeys' | 'webauthn'>,
  response: SignedResponse,
  { site, clientData, verified, userId, onUser }: Expected,
): Promise<VerifiedPasskey> {
  const claims = webauthn.readClaims(response, { site, clientData, demands: { present: true, verified } })
  if (!claims) throw new AuthError('invalid_passkey')
  const found = await passkeys.find(site.rpId, response.credentialId)
  if (found) onUser?.(found.user.id)
  const own = found && isOwn(found.passkey, response, userId) ? found : null
  const publicKey = own?.passkey.publicKey ?? null
  const signed = await webauthn.isSigned(response, { site, clientData, publicKey })
  if (!found) throw new AuthError('invalid_passkey', { unknown: true })
  if (!own || !signed || claims.synced !== own.passkey.synced) throw new AuthError('invalid_passkey')
  return { ...own, claims }
}

/**
 * Without a known user the response must name one. With a known user it may leave that out, as security keys do. The user of an imported
 * passkey may be unknown to us by that name: then its key alone says whose it is.
 */
function isOwn(passkey: PasskeyRecord, { userHandle }: SignedResponse, userId: string | null): boolean {
  if (passkey.suspendedAt !== null) return false
  if (userHandle === null) return passkey.userId === userId
  if (userId !== null && passkey.userId !== userId) return false
  return passkey.userHandle === null || userHandle === passkey.userHandle
}

/**
 * Judges the counter and returns what the session's opening uses up. A counter that did not rise may mean a copy. That suspends a passkey that
 * is bound to one device, and ends every session of its user. A synced one is on several devices, so it is only recorded
 * (WebAuthn §6.1.1).
 *
 * @throws {AuthError} `invalid_passkey`
 */
export async function judgeCounter(
  ports: VerifyPasskeyPorts,
  { passkey, user, claims }: VerifiedPasskey,
  visitor: Visitor,
): Promise<PasskeyProof> {
  const counts = passkey.signCount > 0 || claims.signCount > 0
  if (counts && claims.signCount <= passkey.signCount) await reportCounter(ports, { passkey, user }, visitor)
  return {
    kind: 'passkey',
    id: passkey.id,
    seenCount: passkey.synced ? null : passkey.signCount,
    signCount: claims.signCount,
    backedUp: claims.backedUp,
    userVerified: claims.userVerified,
  }
}

async function reportCounter(
  ports: VerifyPasskeyPorts,
  { passkey, user }: Pick<VerifiedPasskey, 'passkey' | 'user'>,
  visitor: Visitor,
): Promise<void> {
  const { synced, name } = passkey
  const facts = { userId: user.id, outcome: 'failure', detail: { synced, suspended: !synced } } as const
  const audit = auditEvent(ports, 'passkey_counter', visitor, facts)
  if (synced) return ports.audit.record(audit)
  const values = { name, suspended: 'yes' }
  const mail = notice(ports, 'passkey-removed', { user, userAgent: visitor.userAgent, values })
  await ports.passkeys.suspend(user.id, passkey.id, ports.clock.now(), {
    until: changeMattersUntil(ports),
    audit,
    ...mail,
  })
  throw new AuthError('invalid_passkey')
}
