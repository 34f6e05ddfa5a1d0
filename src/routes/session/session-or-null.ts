import { AuthError } from '../../errors.js'
import type { RouteContext, SignedIn } from '../../http/route.js'

/**
 * The session of the request, or null when the visitor is not signed in.
 *
 * @throws {AuthError} when the session cannot be checked, such as `store_unavailable`
 */
export async function sessionOrNull({ session }: Pick<RouteContext, 'session'>): Promise<SignedIn | null> {
  try {
    return await session()
  } catch (error) {
    if (error instanceof AuthError && error.status < 500) return null
    throw error
  }
}
