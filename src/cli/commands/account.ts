import { createWorld } from '../../lib/runtime.js'
import { isAccountDisabled } from '../../model/account.js'
import type { Account, Home } from '../home.js'
import { ToolError } from '../tool-error.js'
import { shortTime } from './units.js'

/** @throws {ToolError} `not_found` */
export async function accountOf(home: Home, addressOrId: string): Promise<Account> {
  const account = await home.findUser(addressOrId)
  if (account === null) throw new ToolError(1, 'not_found', `There is no account ${addressOrId}.`)
  return account
}

/** Whether the account is disabled now. */
export function isDisabledNow(account: Account): boolean {
  return isAccountDisabled(account, createWorld().now())
}

/** `enabled`, `disabled`, or `disabled until 2030-01-31T00:00Z`. */
export function stateOf(account: Account): string {
  if (!isDisabledNow(account)) return 'enabled'
  const { disabledUntil } = account
  return disabledUntil === null ? 'disabled' : `disabled until ${shortTime(disabledUntil, '')}`
}
