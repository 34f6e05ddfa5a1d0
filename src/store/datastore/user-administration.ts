import type { UserFilter } from '../../model/account.js'
import { isProved } from '../../model/admin-role.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { UserRecord } from '../../model/user.js'
import {
  type AccountChange,
  demandedReset,
  disabledAccount,
  enabledAccount,
  replacedPassword,
  updatedAccount,
} from '../account-changes.js'
import { toTokenRow } from '../one-time-token-rows.js'
import { Refused } from '../refused.js'
import type { UsersTable } from '../rows.js'
import { toUser } from '../user-rows.js'
import type { AccountStep, Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Query } from './engine/query.js'
import type { Steps } from './engine/steps.js'
import { oneTimeTokens, users } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { isLastAdmin } from './last-admin.js'
import { newestBefore } from './newest-before.js'
import { changeUser, isEnabled, requireUser } from './user-rows.js'

/** What the application's own calls do to accounts. */
export function administerUsers(
  steps: Steps,
): Pick<Users, 'updateAccount' | 'disable' | 'enable' | 'setPassword' | 'demandReset' | 'list' | 'count'> {
  return {
    updateAccount: (id, changes, step) => change(steps, id, updatedAccount(changes), step),
    disable: (id, disabling, step, keepAdmin = []) =>
      steps.step<UserRecord | 'last_admin' | null>(async (unit) => {
        if (await isLastAdmin(unit, id, keepAdmin, disabling.at)) return 'last_admin'
        const waits = await unit.find(oneTimeTokens, { user_id: id, purpose: 'account_deletion' })
        const isWaiting = waits.some(({ expires_at }) => expires_at > disabling.at)
        return apply(unit, id, disabledAccount(disabling, isWaiting), step)
      }, null),
    enable: (id, now, step) => change(steps, id, enabledAccount(now), step),
    setPassword: (id, hash, step) => change(steps, id, replacedPassword(hash), step),
    demandReset: (id, reset, step, keepAdmin = []) =>
      steps.step<UserRecord | 'last_admin' | null>(async (unit) => {
        if (await isLastAdmin(unit, id, keepAdmin, Math.floor(step.audit.atMs / 1000))) return 'last_admin'
        return apply(unit, id, demandedReset, step, reset)
      }, null),

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

function change(steps: Steps, id: string, change: AccountChange, step: AccountStep): Promise<UserRecord | null> {
  return steps.step<UserRecord | null>((unit) => apply(unit, id, change, step), null)
}

async function apply(
  unit: Unit,
  id: string,
  { values, losses, judge, lossesIfDone }: AccountChange,
  step: AccountStep,
  kept?: OneTimeToken,
): Promise<UserRecord> {
  const row = await requireUser(unit, id)
  const verdict = judge?.(toUser(row))
  if (verdict === 'refuse') throw new Refused()
  if (verdict === 'done') {
    if (lossesIfDone) await dropLosses(unit, id, lossesIfDone)
    return toUser(row)
  }
  await dropLosses(unit, id, losses)
  if (kept) unit.put(oneTimeTokens, toTokenRow(kept, unit))
  return changeUser(unit, { ...row, ...values }, step)
}

/** ASCII letters in either case, others as they stand. */
function contains(text: string | null, part: string): boolean {
  return text !== null && (text.includes(part) || lowerAscii(text).includes(lowerAscii(part)))
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
