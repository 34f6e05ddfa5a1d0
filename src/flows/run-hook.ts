import { AuthError } from '../errors.js'
import type { Hook } from '../hooks.js'
import { toUser, type UserRecord } from '../model/user.js'
import type { Visitor } from '../model/visitor.js'

/**
 * Runs a hook of the owner, if there is one.
 *
 * @throws {AuthError} what the hook throws if it is one; `hook_failed` for everything else
 */
export async function runHook(
  hook: Hook | undefined,
  input: { user: UserRecord; method: string; visitor: Visitor },
): Promise<void> {
  if (!hook) return
  try {
    await hook({ user: toUser(input.user), method: input.method, request: { ...input.visitor } })
  } catch (error) {
    if (error instanceof AuthError) throw error
    throw new AuthError('hook_failed', { retryAfterSeconds: 1, cause: error })
  }
}
