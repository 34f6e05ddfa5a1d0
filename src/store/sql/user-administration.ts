import type { UserRecord } from '../../model/user.js'
import {
  type AccountChange,
  disabledAccount,
  enabledAccount,
  replacedPassword,
  updatedAccount,
} from '../account-changes.js'
import { toUser } from '../user-rows.js'
import type { AccountStep, Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Steps } from './engine/steps.js'
import { recordUserChange, requireOne } from './user-passwords.js'

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
      steps.step(async (db) => {
        let rows = db.selectFrom('latchkey_users').selectAll()
        if (query !== null) {
          const { contains } = steps.flavour
          rows = rows.where((eb) => eb.or([contains('email_canonical', query), contains('name', query)]))
        }
        if (after !== null) {
          const { createdAt, id } = after
          rows = rows.where((eb) =>
            eb.or([eb('created_at', '<', createdAt), eb.and([eb('created_at', '=', createdAt), eb('id', '<', id)])]),
          )
        }
        const found = await rows.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
        return found.map(toUser)
      }),
  }
}

/** One statement for values and version, then the losses, then the records of the change. */
function change(
  steps: Steps,
  id: string,
  { values, losses }: AccountChange,
  step: AccountStep,
): Promise<UserRecord | null> {
  return steps.transaction<UserRecord | null>(async (unit) => {
    await unit.db
      .updateTable('latchkey_users')
      .set((eb) => ({ ...values, version: eb('version', '+', 1) }))
      .where('id', '=', id)
      .executeTakeFirst()
      .then(requireOne)
    await dropLosses(unit, id, losses)
    return recordUserChange(unit, id, step)
  }, null)
}
