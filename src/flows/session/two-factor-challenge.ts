import { choiceIn, numberIn, readFields, textIn, textsIn } from '../../lib/json-fields.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import { type SessionMode, sessionModes } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
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

/** Keeps a first step and returns its secret, which is valid for the second step only (RFC 9700 §4.15). */
export async function askSecondStep(
  ports: Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock' | 'random'>,
  { user, mode, method, amr, visitor }: SignIn,
): Promise<string> {
  const secret = ports.random.token()
  const id = ports.random.id()
  const now = ports.clock.now()
  const first: FirstStep = { amr, method, mode, version: user.version }
  const token: OneTimeToken = {
    id,
    purpose: 'two_factor',
    subject: user.id,
    userId: user.id,
    email: user.emailCanonical,
    tokenHash: ports.keyring.digest('two_factor', secret),
    codeHash: null,
    handleHash: null,
    payload: ports.keyring.seal('two-factor-payload', id, JSON.stringify(first)),
    tries: 0,
    createdAt: now,
    expiresAt: now + challengeSeconds,
  }
  const audit = auditEvent(ports, 'two_factor_asked', visitor, { userId: user.id, detail: { method } })
  await ports.oneTimeTokens.put(token, null, { keep: 1, now, audit })
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
