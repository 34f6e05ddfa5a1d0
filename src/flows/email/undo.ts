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
  /** A code of the second factor; null if none was given. */
  code: string | null
  visitor: Visitor
}

/**
 * Gives an account its former address back. Later changes are undone with it, every session ends, and a second factor that
 * was turned on since is removed. The password stays, but a thief may know it, so the page leads on to a new one. The address
 * that the account leaves gets a notice, and the restored one gets a notice if a factor was removed. The undo signs no user
 * in, so it works on a disabled account, too.
 *
 * @throws {AuthError} `invalid_token` (unknown, used, expired and guessed at too often look alike), `invalid_code` if the
 *   second factor that was on at the change is still on
 */
export async function undoEmail(ports: UndoEmailPorts, input: UndoEmailInput): Promise<void> {
  const found = await findEmailToken(ports, 'email_undo', input.token)
  if (!found) throw new AuthError('invalid_token')
  const { token, user, typed, factorSince } = found
  const proof = asksForCode(found) ? await requireUndoCode(ports, found, input) : null
  // The factor is proved or about to be removed, so guesses at it must not count against the next one.
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

/** Whether the page of the link must ask for a code. Only reads. */
export async function asksForUndoCode(
  ports: Pick<Ports, 'users' | 'oneTimeTokens' | 'keyring' | 'clock'>,
  token: string,
): Promise<boolean> {
  const found = await findEmailToken(ports, 'email_undo', token)
  return found !== null && asksForCode(found)
}

/**
 * If the second factor of the time of the change is still on, an old mailbox alone must not take an account back (ASVS 5.0,
 * 6.3.4). A factor that was turned on since may be the thief's, and must not stop the owner.
 */
function asksForCode({ user, factorSince }: EmailToken): boolean {
  return factorSince !== null && twoFactorSince(user) === factorSince
}

/**
 * One notice to the address that the account leaves, unless it stays the same, because its owner may lose the account. One to
 * the restored address, which the token has proved, if the account has no second factor any more (ASVS 5.0, 6.3.7).
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
 * The link has a few guesses of its own, apart from the account's. A thief who knows the password could use up the account's
 * guesses and block the owner's undo. And a person with only that mailbox cannot use up the account's guesses.
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
