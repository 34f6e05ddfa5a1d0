import type { UserRecord } from '../model/user.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import { auditEvent } from './audit.js'
import { changeMattersUntil } from './issue-tokens.js'
import { runHook } from './run-hook.js'

/**
 * Runs the hook on an account that has just been created. Where it refuses or fails, the account goes again: otherwise
 * whoever was denied would sign in with it.
 *
 * @throws {AuthError} as `runHook`
 */
export async function afterRegister(
  ports: Pick<Ports, 'users' | 'hooks' | 'clock' | 'random' | 'policy'>,
  input: { user: UserRecord; method: string; visitor: Visitor },
): Promise<void> {
  try {
    await runHook(ports.hooks.afterRegister, input)
  } catch (refusal) {
    const { id: userId } = input.user
    const audit = auditEvent(ports, 'account_deleted', input.visitor, { userId, detail: { reason: 'hook' } })
    await ports.users.delete(userId, changeMattersUntil(ports), audit)
    throw refusal
  }
}
