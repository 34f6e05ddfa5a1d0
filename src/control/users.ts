import {
  createAccount,
  disableAccount,
  enableAccount,
  removeAccount,
  setPassword,
  updateAccount,
} from '../flows/control/administer-accounts.js'
import { findAccount, findAccountByEmail, listAccounts } from '../flows/control/find-accounts.js'
import { importAccounts } from '../flows/control/import-accounts.js'
import type { Account, AccountChanges, AccountFilter, NewAccount, Page } from '../model/account.js'
import type { CodehooksAuthUser, ImportedAccount, ImportReport } from '../model/imported-account.js'
import type { Ports } from '../ports.js'
import { applicationVisitor } from './application-visitor.js'

/**
 * Accounts, for the application's own code. What ends access takes effect in this process at once and in every other
 * within a second; everything is audited.
 */
export interface UsersApi {
  /**
   * Creates an account and mails nobody.
   *
   * @throws {AuthError} `email_taken`, `weak_password` with `reasons`, `invalid_request`
   * @example const user = await auth.users.create({ email: 'ada@example.com', roles: ['EDITOR'], emailVerified: true })
   */
  create(account: NewAccount): Promise<Account>
  get(id: string): Promise<Account | null>
  /** However the address is spelled; null also for what is no address. */
  findByEmail(email: string): Promise<Account | null>
  /**
   * The newest first.
   *
   * @throws {AuthError} `invalid_request` for a limit or cursor that cannot be
   * @example const { items, nextCursor } = await auth.users.list({ query: '@example.com', limit: 20 })
   */
  list(filter?: AccountFilter): Promise<Page<Account>>
  /**
   * Takes over accounts with the password hashes that they have, and mails nobody. One record is done after the other,
   * each durable before the next, so an import that was cut off can simply be run again.
   *
   * @throws {AuthError} `invalid_request` unless `records` can be iterated; what is wrong with a record is in the report
   * @example const { created, failed } = await auth.users.import([{ email, passwordHash, emailVerified: true }])
   */
  import(
    records: Iterable<ImportedAccount | CodehooksAuthUser> | AsyncIterable<ImportedAccount | CodehooksAuthUser>,
  ): Promise<ImportReport>
  /**
   * Sets name or roles. Access tokens with former roles are dead at once; the next refresh brings the new ones.
   * `twoFactor: false` takes away a second factor that its owner has lost: make sure that it is the owner who asks. Every
   * session of the user ends, and a notice is mailed.
   *
   * @throws {AuthError} `not_found`, `invalid_request`
   * @example await auth.users.update(id, { twoFactor: false })
   */
  update(id: string, changes: AccountChanges): Promise<Account>
  /**
   * Sets a password, ends every session of the user and mails a notice.
   *
   * @throws {AuthError} `not_found`, `weak_password` with `reasons`
   */
  setPassword(id: string, password: string): Promise<void>
  /**
   * Shuts the account: its sessions, tokens and pending links end. `reason` goes into the audit log; without `until` it
   * stays shut until `enable`.
   *
   * @throws {AuthError} `not_found`, `invalid_request`
   * @example await auth.users.disable(id, { reason: 'chargeback', until: new Date('2030-01-01') })
   */
  disable(id: string, options?: { reason?: string; until?: Date | string }): Promise<Account>
  /** @throws {AuthError} `not_found` */
  enable(id: string): Promise<Account>
  /** Deletes the account for good, with everything that hangs on it. False when there was none. */
  delete(id: string): Promise<boolean>
}

/** `ports` waits for the store to be open. */
export function createUsersApi(ports: () => Promise<Ports>): UsersApi {
  const visitor = applicationVisitor
  return {
    create: async (account) => createAccount(await ports(), { account, visitor }),
    get: async (id) => findAccount(await ports(), id),
    findByEmail: async (email) => findAccountByEmail(await ports(), email),
    list: async (filter = {}) => listAccounts(await ports(), filter),
    import: async (records) => importAccounts(await ports(), { records, visitor }),
    update: async (id, changes) => updateAccount(await ports(), { id, changes, visitor }),
    setPassword: async (id, password) => setPassword(await ports(), { id, password, visitor }),
    disable: async (id, options = {}) => disableAccount(await ports(), { id, options, visitor }),
    enable: async (id) => enableAccount(await ports(), { id, visitor }),
    delete: async (id) => removeAccount(await ports(), { id, visitor }),
  }
}
