import { AuthError } from '../../errors.js'
import { toUser, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { PortHooks, Ports } from '../../ports.js'

/**
 * Runs a hook of the owner, if there is one.
 *
 * @throws {AuthError} what the hook throws if it is one; `hook_failed` for everything else
 */
export async function runHook(
  { hooks, policy }: Pick<Ports, 'hooks' | 'policy'>,
  name: keyof PortHooks,
  { user, method, visitor }: { user: UserRecord; method: string; visitor: Visitor },
): Promise<void> {
  const hook = hooks[name]
  if (!hook) return
  try {
    const { ip, userAgent } = visitor
    await hook({ user: toUser(user, policy.adminEmails), method, request: { ip, userAgent } }, visitor)
  } catch (error) {
    if (error instanceof AuthError) throw error
    throw new AuthError('hook_failed', { retryAfterSeconds: 1, cause: error })
  }
}

/**
 * For the last steps of a sign-in. The session is open, but its tokens are not sent yet. A failure of a further step must not
 * withhold them.
 */
export async function ignoreAuthError<Result>(step: Promise<Result>, otherwise: Result): Promise<Result> {
  return step.catch((error: unknown) => {
    if (error instanceof AuthError) return otherwise
    throw error
  })
}
