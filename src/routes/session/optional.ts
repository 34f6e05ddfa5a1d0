import { AuthError } from '../../errors.js'
import type { RouteContext, SignedIn } from '../../http/route.js'
import type { Visitor } from '../../model/visitor.js'

/**
 * The signed-in user and the visitor with its actor, for a route that works without a session, too.
 *
 * @throws {AuthError} when the session cannot be checked, such as `store_unavailable`
 */
export async function optionalSession({
  session,
  visitor,
}: RouteContext): Promise<SignedIn | { principal: null; visitor: Visitor }> {
  try {
    return await session()
  } catch (error) {
    if (error instanceof AuthError && error.status < 500) return { principal: null, visitor }
    throw error
  }
}
