import { coarseNetwork } from '../../lib/ip-address.js'
import { choiceIn, numberIn, readFields, textIn, textsIn } from '../../lib/json-fields.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import { type SessionMode, sessionModes } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { findDeviceOf } from '../steps/devices.js'
import type { SignIn } from './open-session.js'

/** How long the second step of a sign-in may take. */
export const challengeSeconds = 5 * 60

/** What the second step must know about the first. */
export interface FirstStep {
  amr: readonly string[]
  method: string
  mode: SessionMode
  /** The account's version. A password or role that changed since makes the first step void. */
  version: number
}

export interface Challenge {
  token: OneTimeToken
  user: UserRecord
  first: FirstStep
}

/** Sign-ins of a user that may wait for their second step at once. */
export const challengesAtOnce = 5

/**
 * Keeps a first step and returns its secret, which is valid for the second step only (RFC 9700 §4.15).
 *
 * Several of a user live side by side, one a browser, so that a person who knows the password does not end the owner's by
 * asking for new ones (ATK-292). Where there are too many, a browser that is no known device loses its own first: of those,
 * the oldest of the network with the most.
 */
export async function askSecondStep(
  ports: Pick<Ports, 'oneTimeTokens' | 'devices' | 'keyring' | 'clock' | 'random'>,
  { user, mode, method, amr, visitor, device: deviceToken, challenge }: SignIn,
): Promise<string> {
  const secret = ports.random.token()
  const id = ports.random.id()
  const now = ports.clock.now()
  const device = await findDeviceOf(ports, user.id, deviceToken)
  const network = ports.keyring.digest('two-factor-network', coarseNetwork(visitor.ip) ?? 'unknown').slice(-22)
  const first: FirstStep = { amr, method, mode, version: user.version }
  const token: OneTimeToken = {
    id,
    purpose: 'two_factor',
    subject: `${user.id} ${device ? 'known' : network}`,
    userId: user.id,
    email: user.emailCanonical,
    tokenHash: ports.keyring.digest('two_factor', secret),
    codeHash: null,
    handleHash: device && ports.keyring.digest('two-factor-device', device.id),
    payload: ports.keyring.seal('two-factor-payload', id, JSON.stringify(first)),
    tries: 0,
    createdAt: now,
    expiresAt: now + challengeSeconds,
  }
  const audit = auditEvent(ports, 'two_factor_asked', visitor, { userId: user.id, detail: { method } })
  const tokenHashes = challenge ? ports.keyring.digests('two_factor', challenge) : []
  const places = { keep: challengesAtOnce, sharedBy: 'email', onePerBrowser: { tokenHashes } } as const
  await ports.oneTimeTokens.put(token, null, { ...places, now, audit })
  return secret
}

/** The first step of this secret; null when it is unknown, used, replaced, expired or void. */
export async function findChallenge(
  ports: Pick<Ports, 'oneTimeTokens' | 'users' | 'keyring' | 'clock'>,
  secret: string | null,
): Promise<Challenge | null> {
  if (secret === null) return null
  const hashes = ports.keyring.digests('two_factor', secret)
  const token = await ports.oneTimeTokens.findByHash('two_factor', hashes, ports.clock.now())
  const user = token?.userId ? await ports.users.findById(token.userId) : null
  if (!token?.payload || !user) return null
  const first = parseFirstStep(ports.keyring.open('two-factor-payload', token.id, token.payload))
  return first?.version === user.version ? { token, user, first } : null
}

function parseFirstStep(text: string | null): FirstStep | null {
  return readFields(text, (fields) => ({
    amr: textsIn(fields, 'amr'),
    method: textIn(fields, 'method'),
    mode: choiceIn(fields, 'mode', sessionModes),
    version: numberIn(fields, 'version'),
  }))
}
