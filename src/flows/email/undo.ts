import { AuthError } from '../../errors.js'
import { hasFactor, twoFactorSince } from '../../model/factors/kinds.js'
import type { OutboxMail } from '../../model/outbox-mail.js'
import type { FactorProof } from '../../model/second-factor.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { type EmailToken, findEmailToken } from '../steps/email-tokens.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import {
  type FactorPorts,
  factorNotice,
  factorTries,
  forgetFactorTries,
  judgeFactor,
} from '../two-factor/second-factor.js'

export type UndoEmailPorts = FactorPorts & Pick<Ports, 'users' | 'oneTimeTokens' | 'mails' | 'policy'>

export interface UndoEmailInput {
  token: string
  /** Of the second factor; null where none was given. */
  code: string | null
  visitor: Visitor
}

/**
 * Gives an account the address back that a change took from it. Changes that came later are undone with it, every session
 * ends, and a second factor that was turned on since goes. The password stays: whoever made the change may know it, so
 * the page leads on to another one. The address that is left is told, and the restored one of a factor that
 * went. It opens nothing, so it works on a disabled account, too.
 *
 * @throws {AuthError} `invalid_token` (unknown, used, expired and guessed at too often look alike), `invalid_code` where
 *   the second factor that was on at the change still is
 */
export async function undoEmail(ports: UndoEmailPorts, input: UndoEmailInput): Promise<void> {
  const found = await findEmailToken(ports, 'email_undo', input.token)
  if (!found) throw new AuthError('invalid_token')
  const { token, user, typed, factorSince } = found
  const proof = asksForCode(found) ? await requireUndoCode(ports, found, input) : null
  // Proved or about to go: the guesses that somebody made at it are the next one's no more.
  if (hasFactor(user)) await forgetFactorTries(ports, user.id)

  const detail = hasFactor(user) ? { secondFactor: proof?.kind ?? 'removed' } : {}
  const step = {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'email_restored', input.visitor, { userId: user.id, detail }),
    ...noticesOfUndo(ports, found, proof, input.visitor),
  }
  const undo = { email: typed, factorSince, proof }
  const restored = await ports.users.undoEmail(token.id, undo, ports.clock.now(), step)
  if (!restored) throw new AuthError('invalid_token')
}

/** Whether the page behind the link must ask for a code; reads only. */
export async function asksForUndoCode(
  ports: Pick<Ports, 'users' | 'oneTimeTokens' | 'keyring' | 'clock'>,
  token: string,
): Promise<boolean> {
  const found = await findEmailToken(ports, 'email_undo', token)
  return found !== null && asksForCode(found)
}

/**
 * Where the second factor of the time of the change is on, an old mailbox alone must not take an account back (ASVS 5.0,
 * 6.3.4). One that was turned on since may be of whoever made the change, and must not stop the owner.
 */
function asksForCode({ user, factorSince }: EmailToken): boolean {
  return factorSince !== null && twoFactorSince(user) === factorSince
}

/**
 * To the address that is left, whose owner it may be taken from; none where it stays the same. To the one that comes back,
 * which the token has proved, that its account has no second factor any more (ASVS 5.0, 6.3.7).
 */
function noticesOfUndo(
  ports: UndoEmailPorts,
  { token, user }: EmailToken,
  proof: FactorProof | null,
  visitor: Visitor,
): { mail?: OutboxMail; secondMail?: OutboxMail } {
  const { userAgent } = visitor
  const left = user.emailCanonical === token.email ? {} : notice(ports, 'email-restored', { user, userAgent })
  if (!hasFactor(user) || proof !== null) return left
  const restored = { ...user, emailCanonical: token.email, emailVerified: true }
  const { mail } = factorNotice(ports, { user: restored, visitor, change: 'off' })
  return mail ? { ...left, secondMail: mail } : left
}

/**
 * The link has few guesses of its own. The account's are not asked: whoever knows the password could use them up, and so
 * keep the owner from taking the account back; nor does whoever has nothing but that mailbox use up the account's.
 */
async function requireUndoCode(
  ports: UndoEmailPorts,
  { token, user }: EmailToken,
  { code, visitor }: UndoEmailInput,
): Promise<FactorProof> {
  if (code !== null && !(await ports.oneTimeTokens.countTry(token.id, factorTries)))
    throw new AuthError('invalid_token')
  return judgeFactor(ports, { user, session: null }, { code, event: 'email_restored', visitor })
}
