import type { OneTimeToken } from '../../model/one-time-token.js'
import type { UserRecord } from '../../model/user.js'
import { hasToken, toTokenRow } from '../one-time-tokens.js'
import { Refused } from '../refused.js'
import { oneTimeTokens } from '../tables.js'
import type { Steps, Unit } from '../unit.js'
import { toUser } from '../user-rows.js'
import type { AccountStep, Users } from '../users.js'
import {
  type AccountChange,
  demandedReset,
  disabledAccount,
  enabledAccount,
  replacedPassword,
  updatedAccount,
} from './changes.js'
import { dropLosses } from './losses.js'
import { changeUser, requireUser } from './steps.js'

/** Changes of accounts by the application's own calls. */
export function administerUsers(
  steps: Steps,
): Pick<Users, 'updateAccount' | 'disable' | 'enable' | 'setPassword' | 'demandReset'> {
  return {
    updateAccount: (id, changes, step) => change(steps, id, updatedAccount(changes), step),
    disable: (id, disabling, step, keepAdmin = []) =>
      steps.transaction<UserRecord | 'last_admin' | null>(async (unit) => {
        if (await unit.isLastAdmin(id, keepAdmin, disabling.at)) return 'last_admin'
        // The user is locked before the token is read, so that the answer stays true until the step ends.
        await requireUser(unit, id)
        const waits = await hasToken(unit, id, { purpose: 'account_deletion', now: disabling.at })
        return apply(unit, id, disabledAccount(disabling, waits), step)
      }, null),
    enable: (id, now, step) => change(steps, id, enabledAccount(now), step),
    setPassword: (id, hash, step) => change(steps, id, replacedPassword(hash), step),
    demandReset: (id, reset, step, keepAdmin = []) =>
      steps.transaction<UserRecord | 'last_admin' | null>(async (unit) => {
        if (await unit.isLastAdmin(id, keepAdmin, Math.floor(step.audit.atMs / 1000))) return 'last_admin'
        return apply(unit, id, demandedReset, step, reset)
      }, null),
  }
}

function change(steps: Steps, id: string, change: AccountChange, step: AccountStep): Promise<UserRecord | null> {
  return steps.transaction<UserRecord | null>((unit) => apply(unit, id, change, step), null)
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
  if (kept) await unit.put(oneTimeTokens, toTokenRow(kept, unit))
  return changeUser(unit, { ...row, ...values }, step)
}
