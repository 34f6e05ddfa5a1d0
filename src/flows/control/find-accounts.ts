import { invalidField } from '../../errors.js'
import { parseEmailAddress } from '../../lib/email-address.js'
import { oneLine } from '../../lib/one-line.js'
import {
  type Account,
  type AccountFilter,
  accountStates,
  type Page,
  toAccount,
  type UserFilter,
} from '../../model/account.js'
import { adminRole } from '../../model/admin-role.js'
import type { Ports } from '../../ports.js'
import { type Count, countOf, cursorOf, readCursor, requireLimit } from '../steps/paging.js'

type FindPorts = Pick<Ports, 'users' | 'policy'>

/** The account with that id, or null. */
export async function findAccount(ports: FindPorts, id: string): Promise<Account | null> {
  const user = await ports.users.findById(id)
  return user && toAccount(user, ports.policy.adminEmails)
}

/** The account with that address in any spelling; null also for a text that is no address. */
export async function findAccountByEmail(ports: FindPorts, email: string): Promise<Account | null> {
  const address = parseEmailAddress(email)
  const user = address && (await ports.users.findByEmail(address.canonical))
  return user && toAccount(user, ports.policy.adminEmails)
}

/**
 * One page of the accounts, newest first. A query that is the whole address of an account finds it by the index and is
 * not searched for in other addresses.
 *
 * @throws {AuthError} `invalid_request` for an invalid limit, cursor, role or state
 */
export async function listAccounts(
  ports: FindPorts & Pick<Ports, 'clock'>,
  filter: AccountFilter,
): Promise<Page<Account>> {
  const limit = requireLimit(filter.limit)
  const after = filter.cursor === undefined ? null : readCursor(filter.cursor)
  const query = oneLine(filter.query ?? '')
  const conditions = { ...roleCondition(filter.role, ports.policy.adminEmails), ...stateCondition(ports, filter.state) }

  // A later page belongs to a search.
  const address = after === null ? parseEmailAddress(query) : null
  const email = address?.canonical
  const exact = email === undefined ? [] : await ports.users.list({ ...conditions, query: null, email, after, limit })
  if (exact.length > 0)
    return { items: exact.map((user) => toAccount(user, ports.policy.adminEmails)), nextCursor: null }

  // One more than asked for shows whether there is another page.
  const users = await ports.users.list({ ...conditions, query: query === '' ? null : query, after, limit: limit + 1 })
  const page = users.slice(0, limit)
  const last = page.at(-1)
  const items = page.map((user) => toAccount(user, ports.policy.adminEmails))
  return { items, nextCursor: last && users.length > limit ? cursorOf(last) : null }
}

/** How many accounts there are. */
export async function countAccounts({ users }: Pick<Ports, 'users'>): Promise<Count> {
  return countOf(await users.count(), (limit) => users.list({ query: null, after: null, limit }))
}

/** ADMIN follows from a verified address. A stored role of that name has no effect. */
function roleCondition(role: unknown, adminEmails: readonly string[]): Pick<UserFilter, 'role' | 'verifiedAs'> {
  if (role === undefined) return {}
  if (typeof role !== 'string' || role === '') throw invalidField('role', 'must be the name of a role')
  return role === adminRole ? { verifiedAs: adminEmails } : { role }
}

function stateCondition({ clock }: Pick<Ports, 'clock'>, state: unknown): Pick<UserFilter, 'state'> {
  if (state === undefined) return {}
  const is = accountStates.find((name) => name === state)
  if (is === undefined) throw invalidField('state', `must be one of ${accountStates.join(', ')}`)
  return { state: { is, at: clock.now() } }
}
