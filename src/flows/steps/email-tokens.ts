import { nullOr, numberIn, readFields, textIn } from '../../lib/json-fields.js'
import { twoFactorSince } from '../../model/factors/kinds.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'

/** `email_change` goes to the new address, `email_undo` to the former one. */
type EmailPurpose = 'email_change' | 'email_undo'

/** Their lifetimes, and the pages of their links. */
const kinds = {
  email_change: { seconds: 60 * 60, page: 'email-change' },
  email_undo: { seconds: 7 * 24 * 60 * 60, page: 'email-undo' },
} as const

export const changeMinutes = kinds.email_change.seconds / 60
export const undoDays = kinds.email_undo.seconds / 86_400

export interface EmailToken extends Sealed {
  token: OneTimeToken
  user: UserRecord
}

/** The sealed content of the token. */
interface Sealed {
  /** Its address as it was typed. */
  typed: string
  /** The account's version. */
  version: number
  /** When the second factor that was on had been turned on (Unix seconds); null: none was on. */
  factorSince: number | null
}

/** A token that gives its user this address. Only the link holds the secret. */
export function draftEmailToken(
  ports: Pick<Ports, 'keyring' | 'random' | 'clock' | 'policy'>,
  purpose: EmailPurpose,
  user: UserRecord,
  email: { typed: string; canonical: string },
): { token: OneTimeToken; url: string } {
  const secret = ports.random.token()
  const id = ports.random.id()
  const now = ports.clock.now()
  const { seconds, page } = kinds[purpose]
  const sealed: Sealed = { typed: email.typed, version: user.version, factorSince: twoFactorSince(user) }
  const token: OneTimeToken = {
    id,
    purpose,
    subject: user.id,
    userId: user.id,
    email: email.canonical,
    tokenHash: ports.keyring.digest(purpose, secret),
    codeHash: null,
    handleHash: null,
    payload: ports.keyring.seal(`${purpose}-payload`, id, JSON.stringify(sealed)),
    tries: 0,
    createdAt: now,
    expiresAt: now + seconds,
  }
  return { token, url: `${ports.policy.authUrl}/${page}?token=${secret}` }
}

/** The live token of a mailed link with its user, or null. Looking does not use it up. */
export async function findEmailToken(
  ports: Pick<Ports, 'users' | 'oneTimeTokens' | 'keyring' | 'clock'>,
  purpose: EmailPurpose,
  secret: string,
): Promise<EmailToken | null> {
  const hashes = ports.keyring.digests(purpose, secret)
  const token = await ports.oneTimeTokens.findByHash(purpose, hashes, ports.clock.now())
  const user = token?.userId ? await ports.users.findById(token.userId) : null
  if (!token?.payload || !user) return null
  const sealed = parseSealed(ports.keyring.open(`${purpose}-payload`, token.id, token.payload))
  return sealed && { token, user, ...sealed }
}

function parseSealed(text: string | null): Sealed | null {
  return readFields(text, (fields) => ({
    typed: textIn(fields, 'typed'),
    version: numberIn(fields, 'version'),
    factorSince: nullOr(fields, 'factorSince', numberIn),
  }))
}

/** Whether another user than `userId` left that address by a change that can still be undone. */
export async function isReserved(
  ports: Pick<Ports, 'oneTimeTokens' | 'clock'>,
  emailCanonical: string,
  userId: string | null = null,
): Promise<boolean> {
  const undos = await ports.oneTimeTokens.listByEmail('email_undo', emailCanonical, ports.clock.now())
  return undos.some((undo) => undo.userId !== userId)
}
