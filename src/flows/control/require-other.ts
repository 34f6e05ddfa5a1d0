import { AuthError } from '../../errors.js'
import type { Visitor } from '../../model/visitor.js'

/** @throws {AuthError} `would_lock_out` when an administrator is about to take away access of their own account */
export function requireOther({ actor }: Visitor, id: string): void {
  if (actor?.kind === 'user' && actor.userId === id) throw new AuthError('would_lock_out')
}
