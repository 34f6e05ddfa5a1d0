import { parseEmailAddress } from '../../lib/email-address.js'
import { oneLine } from '../../lib/one-line.js'
import { type Account, type AccountFilter, type Page, toAccount } from '../../model/account.js'
import type { Ports } from '../../ports.js'
import { cursorOf, readCursor, requireLimit } from '../steps/paging.js'

type FindPorts = Pick<Ports, 'users'>

/** The account with that id, or null. */
export async function findAccount(ports: FindPorts, id: string): Promise<Account | null> {
  const user = await ports.users.findById(id)
  return user && toAccount(user)
}

/** The account with that address, however it is spelled; null also for what is no address. */
export async function findAccountByEmail(ports: FindPorts, email: string): Promise<Account | null> {
  const address = parseEmailAddress(email)
  const user = address && (await ports.users.findByEmail(address.canonical))
  return user && toAccount(user)
}

/**
 * One page of the accounts, the newest first.
 *
 * @throws {AuthError} `invalid_request` for a limit or cursor that cannot be
 */
export async function listAccounts(ports: FindPorts, filter: AccountFilter): Promise<Page<Account>> {
  const limit = requireLimit(filter.limit)
  const after = filter.cursor === undefined ? null : readCursor(filter.cursor)
  const query = oneLine(filter.query ?? '')

  // One more than asked for tells whether there is another page.
  const users = await ports.users.list({ query: query === '' ? null : query, after, limit: limit + 1 })
  const page = users.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(toAccount), nextCursor: last && users.length > limit ? cursorOf(last) : null }
}
