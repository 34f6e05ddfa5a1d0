import { AuthError } from '../../errors.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { runHook } from '../steps/run-hook.js'
import { registrationsSideBySide } from './draft.js'

/**
 * Runs the hook on an account that has just been created. Where it refuses or fails, the account goes again: otherwise
 * whoever was denied would sign in with it. Where it fails, the registration that was used up is there again, so that
 * the same link and code work once the hook does.
 *
 * @throws {AuthError} as `runHook`
 */
export async function afterRegister(
  ports: Pick<Ports, 'users' | 'oneTimeTokens' | 'hooks' | 'clock' | 'random' | 'policy'>,
  input: { user: UserRecord; method: string; visitor: Visitor; registration?: OneTimeToken },
): Promise<void> {
  try {
    await runHook(ports.hooks.afterRegister, input)
  } catch (refusal) {
    const { id: userId } = input.user
    const audit = auditEvent(ports, 'account_deleted', input.visitor, { userId, detail: { reason: 'hook' } })
    await ports.users.delete(userId, changeMattersUntil(ports), audit)
    if (input.registration && isOutage(refusal)) await putBack(ports, input.registration)
    throw refusal
  }
}

/** No answer of the hook's: it failed, or something that it needs did. */
function isOutage(refusal: unknown): boolean {
  return !(refusal instanceof AuthError) || refusal.status >= 500
}

async function putBack(ports: Pick<Ports, 'oneTimeTokens' | 'clock'>, registration: OneTimeToken): Promise<void> {
  await ports.oneTimeTokens.put(registration, null, { keep: registrationsSideBySide, now: ports.clock.now() })
}
