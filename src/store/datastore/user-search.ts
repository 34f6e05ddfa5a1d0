import type { UserFilter } from '../../model/account.js'
import { isProved } from '../../model/admin-role.js'
import type { UsersTable } from '../rows.js'
import { users } from '../tables.js'
import type { Query } from '../unit.js'
import { isEnabled, toUser } from '../user-rows.js'
import type { Users } from '../users.js'
import { newestBefore } from './engine/newest-before.js'
import type { Steps } from './engine/steps.js'

/** A Datastore finds addresses by an index, and the rest is judged here. */
export function searchUsers(steps: Steps): Pick<Users, 'list' | 'count'> {
  return {
    list: ({ after, limit, ...filter }) =>
      steps.glance(async (view) => {
        const keep = (row: UsersTable) => fits(row, filter)
        return (await newestBefore(view, users, after, { limit, query: queryOf(filter), keep })).map(toUser)
      }),

    // The Datastore has no count.
    count: async () => null,
  }
}

type Conditions = Omit<UserFilter, 'after' | 'limit'>

/** The conditions that have an index. */
function queryOf({ email, verifiedAs }: Conditions): Query {
  const addresses = email === undefined ? verifiedAs : [email]
  return addresses === undefined ? {} : { email_canonical: { in: addresses } }
}

function fits(row: UsersTable, { query, verifiedAs, role, state }: Conditions): boolean {
  const verified = row.email_verified === 1
  if (query !== null && ![row.email_canonical, row.name].some((text) => contains(text, query))) return false
  if (verifiedAs !== undefined && !(isProved(toUser(row)) && verifiedAs.includes(row.email_canonical))) return false
  if (role !== undefined && !toUser(row).roles.includes(role)) return false
  if (state === undefined) return true
  if (!isEnabled(row, state.at)) return state.is === 'disabled'
  return state.is === (verified ? 'active' : 'unverified')
}

/** ASCII letters in either case, others as they stand. */
function contains(text: string | null, part: string): boolean {
  return text !== null && (text.includes(part) || lowerAscii(text).includes(lowerAscii(part)))
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
