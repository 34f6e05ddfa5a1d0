import { AuthError } from '../../errors.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { runHook } from '../steps/run-hook.js'
import { registrationPlaces } from './draft.js'

/**
 * Runs the hook on an account that has just been created. If the hook refuses or fails, the account is deleted again, because
 * otherwise the denied user could sign in. If the hook fails, the used registration is restored, so that the same link and
 * code work when the hook does.
 *
 * @throws {AuthError} as `runHook`
 */
export async function afterRegister(
  ports: Pick<Ports, 'users' | 'oneTimeTokens' | 'hooks' | 'clock' | 'random' | 'policy'>,
  input: { user: UserRecord; method: string; visitor: Visitor; registration?: OneTimeToken },
): Promise<void> {
  try {
    await runHook(ports, 'afterRegister', input)
  } catch (refusal) {
    const { id: userId } = input.user
    const audit = auditEvent(ports, 'account_deleted', input.visitor, { userId, detail: { reason: 'hook' } })
    await ports.users.delete(userId, changeMattersUntil(ports), audit)
    if (input.registration && isOutage(refusal)) await putBack(ports, input.registration)
    throw refusal
  }
}

/** Whether the hook, or something that it needs, failed instead of refusing. */
function isOutage(refusal: unknown): boolean {
  return !(refusal instanceof AuthError) || refusal.status >= 500
}

async function putBack(ports: Pick<Ports, 'oneTimeTokens' | 'clock'>, registration: OneTimeToken): Promise<void> {
  await ports.oneTimeTokens.put(registration, null, { ...registrationPlaces, now: ports.clock.now() })
}
