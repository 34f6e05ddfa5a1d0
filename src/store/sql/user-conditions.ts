import type { ExpressionBuilder } from 'kysely'
import type { Tables } from './engine/schema.js'

/** A condition: the account is not disabled at that time. The SQL form of `isDisabled` in model/user.ts. */
export function isEnabled(now: number) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) =>
    eb.or([eb('latchkey_users.disabled_at', 'is', null), eb('latchkey_users.disabled_until', '<=', now)])
}

/** The opposite. `not` alone would be unknown where `disabled_until` is null. */
export function isDisabled(now: number) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) =>
    eb.and([
      eb('latchkey_users.disabled_at', 'is not', null),
      eb.or([eb('latchkey_users.disabled_until', 'is', null), eb('latchkey_users.disabled_until', '>', now)]),
    ])
}

/** A condition: the password of the account counts. */
export function needsNoReset(eb: ExpressionBuilder<Tables, 'latchkey_users'>) {
  return eb.or([eb('latchkey_users.must_reset', 'is', null), eb('latchkey_users.must_reset', '=', 0)])
}
