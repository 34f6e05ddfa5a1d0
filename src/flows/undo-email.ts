import { AuthError } from '../errors.js'
import type { FactorProof } from '../model/second-factor.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import { auditEvent } from './audit.js'
import { type EmailToken, findEmailToken } from './email-tokens.js'
import { changeMattersUntil } from './issue-tokens.js'
import { type FactorPorts, factorTries, requireFactor } from './second-factor.js'

export type UndoEmailPorts = FactorPorts & Pick<Ports, 'users' | 'oneTimeTokens' | 'policy'>

export interface UndoEmailInput {
  token: string
  /** Of the second factor; null where none was given. */
  code: string | null
  visitor: Visitor
}

/**
 * Gives an account the address back that a change took from it. Every session ends, and with them whoever made the change;
 * changes that came later are undone with it. It opens nothing, so it works on a disabled account, too.
 *
 * @throws {AuthError} `invalid_token` (unknown, used and expired look alike), `invalid_code` where the second factor is on,
 *   `rate_limited` after too many guesses at it
 */
export async function undoEmail(ports: UndoEmailPorts, input: UndoEmailInput): Promise<void> {
  const found = await findEmailToken(ports, 'email_undo', input.token)
  if (!found) throw new AuthError('invalid_token')
  const { token, user, typed } = found
  const proof = user.totp === null ? null : await requireUndoCode(ports, found, input)

  const facts = { userId: user.id, detail: proof ? { secondFactor: proof.kind } : {} }
  const step = {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'email_restored', input.visitor, facts),
  }
  const restored = await ports.users.undoEmail(token.id, typed, ports.clock.now(), step, proof)
  if (!restored) throw new AuthError('invalid_token')
}

/** Whether the page behind the link must ask for a code; reads only. */
export async function asksForUndoCode(
  ports: Pick<Ports, 'users' | 'oneTimeTokens' | 'keyring' | 'clock'>,
  token: string,
): Promise<boolean> {
  const found = await findEmailToken(ports, 'email_undo', token)
  return found !== null && found.user.totp !== null
}

/**
 * Where a second factor is on, an old mailbox alone must not take an account back (ASVS 5.0, 6.3.4). The link takes few
 * guesses, so that whoever has nothing but that mailbox cannot use up those of the account either.
 */
async function requireUndoCode(
  ports: UndoEmailPorts,
  { token, user }: EmailToken,
  { code, visitor }: UndoEmailInput,
): Promise<FactorProof> {
  if (code !== null && !(await ports.oneTimeTokens.countTry(token.id, factorTries)))
    throw new AuthError('invalid_token')
  return requireFactor(ports, { user, session: null }, { code, event: 'email_restored', visitor })
}
