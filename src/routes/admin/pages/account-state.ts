import { type Account, isAccountDisabled } from '../../../model/account.js'

/** The state of an account as a badge: its label and its colour. */
export function shownState(account: Account, nowMs: number) {
  const disabled = isAccountDisabled(account, nowMs)
  if (disabled) return { disabled, stateText: 'admin.state.disabled', tone: 'warn' }
  if (!account.emailVerified) return { disabled, stateText: 'admin.state.unverified', tone: '' }
  return { disabled, stateText: 'admin.state.active', tone: 'on' }
}
