import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { UserFilter } from '../../model/account.js'
import { provingWays } from '../../model/admin-role.js'
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
import { toUser } from '../user-rows.js'
import type { AccountStep, Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Flavour } from './engine/flavour.js'
import type { Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { hasToken } from './user-deletion.js'
import { recordUserChange, requireOne } from './user-passwords.js'
import { holdUser, isDisabled, isEnabled, readUser } from './user-rows.js'

/** Changes of accounts by the application's own calls. */
export function administerUsers(
  steps: Steps,
): Pick<Users, 'updateAccount' | 'disable' | 'enable' | 'setPassword' | 'demandReset' | 'list' | 'count'> {
  return {
    updateAccount: (id, changes, step) => change(steps, id, updatedAccount(changes), step),
    disable: (id, disabling, step, keepAdmin = []) =>
      steps.transaction<UserRecord | 'last_admin' | null>(async (unit) => {
        if (await unit.isLastAdmin(unit, id, keepAdmin, disabling.at)) return 'last_admin'
        return apply(unit, id, disabledAccount(disabling, await waitsForDeletion(unit, id, disabling.at)), step)
      }, null),
    enable: (id, now, step) => change(steps, id, enabledAccount(now), step),
    setPassword: (id, hash, step) => change(steps, id, replacedPassword(hash), step),
    demandReset: (id, reset, step, keepAdmin = []) =>
      steps.transaction<UserRecord | 'last_admin' | null>(async (unit) => {
        if (await unit.isLastAdmin(unit, id, keepAdmin, Math.floor(step.audit.atMs / 1000))) return 'last_admin'
        return apply(unit, id, demandedReset, step, reset)
      }, null),

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

/** Holds the user, so that the answer stays true until the step ends. */
async function waitsForDeletion(unit: Unit, userId: string, now: number): Promise<boolean> {
  await holdUser(unit, userId).execute()
  return hasToken(unit, userId, { purpose: 'account_deletion', now })
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

function change(steps: Steps, id: string, change: AccountChange, step: AccountStep): Promise<UserRecord | null> {
  return steps.transaction<UserRecord | null>((unit) => apply(unit, id, change, step), null)
}

/** One statement for values and version, then the losses, then the token to keep and the records of the change. */
async function apply(
  unit: Unit,
  id: string,
  { values, losses, judge, lossesIfDone }: AccountChange,
  step: AccountStep,
  kept?: OneTimeToken,
): Promise<UserRecord> {
  if (judge) {
    // What is judged is what the step changes.
    await holdUser(unit, id).execute()
    const user = await readUser(unit.db, 'id', id)
    const verdict = user ? judge(user) : 'refuse'
    if (!user || verdict === 'refuse') throw new Refused()
    if (verdict === 'done') {
      if (lossesIfDone) await dropLosses(unit, id, lossesIfDone)
      return user
    }
  }
  await unit.db
    .updateTable('latchkey_users')
    .set((eb) => ({ ...values, version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .executeTakeFirst()
    .then(requireOne)
  await dropLosses(unit, id, losses)
  if (kept) await unit.db.insertInto('latchkey_one_time_tokens').values(toTokenRow(kept, unit)).execute()
  return recordUserChange(unit, id, step)
}
