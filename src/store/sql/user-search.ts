import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { UserFilter } from '../../model/account.js'
import { provingWays } from '../../model/admin-role.js'
import { toUser } from '../user-rows.js'
import type { Users } from '../users.js'
import type { Flavour } from './engine/flavour.js'
import type { Tables } from './engine/schema.js'
import type { Steps } from './engine/steps.js'
import { isDisabled, isEnabled } from './user-conditions.js'

/** One statement searches: its conditions run where the rows are. */
export function searchUsers(steps: Steps): Pick<Users, 'list' | 'count'> {
  return {
    list: ({ after, limit, ...filter }) =>
      steps.step(async (db) => {
        if (filter.verifiedAs?.length === 0) return []
        let rows = db.selectFrom('latchkey_users').selectAll().where(conditionsOf(steps.flavour, filter))
        if (after !== null) {
          rows = rows.where(steps.flavour.before(['created_at', 'id'], [after.createdAt, after.id]))
        }
        const found = await rows.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
        return found.map(toUser)
      }),

    count: () =>
      steps.step(async (db) => {
        const all = db.selectFrom('latchkey_users').select((eb) => eb.fn.countAll().as('count'))
        return Number((await all.executeTakeFirstOrThrow()).count)
      }),
  }
}

type Conditions = Omit<UserFilter, 'after' | 'limit'>

function conditionsOf(flavour: Flavour, { query, email, verifiedAs, role, state }: Conditions) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) => {
    const all: Expression<SqlBool>[] = []
    if (email !== undefined) all.push(eb('email_canonical', '=', email))
    if (verifiedAs !== undefined) {
      all.push(
        eb('email_canonical', 'in', verifiedAs),
        eb('email_verified', '=', 1),
        eb('verified_by', 'in', provingWays),
      )
    }
    if (query !== null) all.push(eb.or(['email_canonical', 'name'].map((column) => flavour.contains(column, query))))
    if (role !== undefined) all.push(eb.or(rolesWith(role).map((text) => flavour.holds('roles', text))))
    if (state?.is === 'disabled') all.push(isDisabled(state.at)(eb))
    else if (state) all.push(isEnabled(state.at)(eb), eb('email_verified', '=', state.is === 'active' ? 1 : 0))
    return eb.and(all)
  }
}

/**
 * What the JSON text of a list of roles contains if and only if that role is among them. Inside a role, every quote has a
 * backslash before it.
 */
function rolesWith(role: string): string[] {
  return ['[', ','].map((before) => before + JSON.stringify(role))
}
