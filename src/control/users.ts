import {
  createAccount,
  disableAccount,
  enableAccount,
  setPassword,
  updateAccount,
} from '../flows/control/administer-accounts.js'
import { findAccount, findAccountByEmail, listAccounts } from '../flows/control/find-accounts.js'
import { importAccounts } from '../flows/control/import-accounts.js'
import { removeAccount } from '../flows/control/remove-account.js'
import type { Account, AccountChanges, AccountFilter, NewAccount, Page } from '../model/account.js'
import type { CodehooksAuthUser, ImportedAccount, ImportReport } from '../model/imported-account.js'
import type { Ports } from '../ports.js'
import { applicationVisitor } from './application-visitor.js'

/**
 * Accounts, for the application's own code. Ending access takes effect in this process at once and in every other within a
 * second. Everything is audited.
 */
export interface UsersApi {
  /**
   * Creates an account. It sends no mail.
   *
   * @throws {AuthError} `email_taken`, `weak_password` with `reasons`, `invalid_request`
   * @example const user = await auth.users.create({ email: 'ada@example.com', roles: ['EDITOR'], emailVerified: true })
   */
  create(account: NewAccount): Promise<Account>
  get(id: string): Promise<Account | null>
  /** Accepts any spelling of the address. Null also for a text that is no address. */
  findByEmail(email: string): Promise<Account | null>
  /**
   * Accounts, newest first.
   *
   * @throws {AuthError} `invalid_request` for an invalid limit, cursor, role or state
   * @example const { items, nextCursor } = await auth.users.list({ query: '@example.com', limit: 20 })
   */
  list(filter?: AccountFilter): Promise<Page<Account>>
  /**
   * Imports accounts with their existing password hashes and passkeys. It sends no mail. Each record is stored before the next one begins,
   * so you can simply run an import again if it was interrupted.
   *
   * @throws {AuthError} `invalid_request` unless `records` can be iterated; the report lists the faults of each record
   * @example const { created, failed } = await auth.users.import([{ email, passwordHash, emailVerified: true }])
   */
  import(
    records: Iterable<ImportedAccount | CodehooksAuthUser> | AsyncIterable<ImportedAccount | CodehooksAuthUser>,
  ): Promise<ImportReport>
  /**
   * Sets name or roles. Access tokens with former roles are revoked at once; the next refresh brings the new ones.
   * `twoFactor: false` removes a second factor that its owner has lost. Make sure that it is the owner who asks. Every
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
   * Disables the account: its sessions, tokens and pending links end. `reason` goes into the audit log. Without `until` the
   * account stays disabled until `enable`.
   *
   * @throws {AuthError} `not_found`, `invalid_request`, `would_lock_out` for the last account with the role ADMIN
   * @example await auth.users.disable(id, { reason: 'chargeback', until: new Date('2030-01-01') })
   */
  disable(id: string, options?: { reason?: string; until?: Date | string }): Promise<Account>
  /**
   * Enables a disabled account; another one stays as it is.
   *
   * @throws {AuthError} `not_found`
   */
  enable(id: string): Promise<Account>
  /**
   * Deletes the account for good, with all its data. False when there was no such account.
   *
   * @throws {AuthError} `would_lock_out` for the last account with the role ADMIN
   */
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
