import type { UserRecord } from '../../model/user.js'
import {
  type AccountChange,
  disabledAccount,
  enabledAccount,
  replacedPassword,
  updatedAccount,
} from '../account-changes.js'
import type { UsersTable } from '../rows.js'
import { toUser } from '../user-rows.js'
import type { AccountStep, Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Steps } from './engine/steps.js'
import { users } from './engine/tables.js'
import { newestBefore } from './newest-before.js'
import { changeUser, requireUser } from './user-rows.js'

/** What the application's own calls do to accounts. */
export function administerUsers(
  steps: Steps,
): Pick<Users, 'updateAccount' | 'disable' | 'enable' | 'setPassword' | 'list'> {
  return {
    updateAccount: (id, changes, step) => change(steps, id, updatedAccount(changes), step),
    disable: (id, span, step) => change(steps, id, disabledAccount(span), step),
    enable: (id, step) => change(steps, id, enabledAccount, step),
    setPassword: (id, hash, step) => change(steps, id, replacedPassword(hash), step),

    list: ({ query, after, limit }) =>
      steps.glance(async (view) => {
        const keep = (row: UsersTable) =>
          query === null || [row.email_canonical, row.name].some((text) => contains(text, query))
        return (await newestBefore(view, users, after, { limit, keep })).map(toUser)
      }),
  }
}

function change(
  steps: Steps,
  id: string,
  { values, losses }: AccountChange,
  step: AccountStep,
): Promise<UserRecord | null> {
  return steps.step<UserRecord | null>(async (unit) => {
    const row = await requireUser(unit, id)
    await dropLosses(unit, id, losses)
    return changeUser(unit, { ...row, ...values }, step)
  }, null)
}

/** ASCII letters in either case, others as they stand. */
function contains(text: string | null, part: string): boolean {
  return text !== null && (text.includes(part) || lowerAscii(text).includes(lowerAscii(part)))
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
