import { AuthError } from '../../errors.js'
import { toUser, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { PortHook } from '../../ports.js'

/**
 * Runs a hook of the owner, if there is one.
 *
 * @throws {AuthError} what the hook throws if it is one; `hook_failed` for everything else
 */
export async function runHook(
  hook: PortHook | undefined,
  { user, method, visitor }: { user: UserRecord; method: string; visitor: Visitor },
): Promise<void> {
  if (!hook) return
  try {
    const { ip, userAgent } = visitor
    await hook({ user: toUser(user), method, request: { ip, userAgent } }, visitor)
  } catch (error) {
    if (error instanceof AuthError) throw error
    throw new AuthError('hook_failed', { retryAfterSeconds: 1, cause: error })
  }
}
