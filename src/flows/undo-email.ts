import { AuthError } from '../errors.js'
import type { UserRecord } from '../model/user.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import { auditEvent } from './audit.js'
import { findEmailToken } from './email-tokens.js'
import { changeMattersUntil } from './issue-tokens.js'

export type UndoEmailPorts = Pick<Ports, 'users' | 'oneTimeTokens' | 'keyring' | 'random' | 'clock' | 'policy'>

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
 * @throws {AuthError} `invalid_token` (unknown, used and expired look alike), `invalid_code` where the second factor is on
 */
export async function undoEmail(ports: UndoEmailPorts, input: UndoEmailInput): Promise<void> {
  const found = await findEmailToken(ports, 'email_undo', input.token)
  if (!found) throw new AuthError('invalid_token')
  const { token, user, typed } = found
  await requireUndoCode(user, input.code)

  const restored = await ports.users.undoEmail(token.id, typed, ports.clock.now(), {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'email_restored', input.visitor, { userId: user.id }),
  })
  if (!restored) throw new AuthError('invalid_token')
}

/** Whether the page behind the link must ask for a code; reads only. */
export async function asksForUndoCode(ports: UndoEmailPorts, token: string): Promise<boolean> {
  const found = await findEmailToken(ports, 'email_undo', token)
  return found !== null && found.user.totp !== null
}

/** Where a second factor is on, an old mailbox alone must not take an account back (ASVS 5.0, 6.3.4). */
async function requireUndoCode(user: UserRecord, _code: string | null): Promise<void> {
  if (user.totp !== null) throw new AuthError('invalid_code')
}
