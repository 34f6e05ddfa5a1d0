import type { Updateable } from 'kysely'
import type { UserRecord } from '../../model/user.js'
import { noFactor } from '../factor-columns.js'
import { toUser } from '../user-rows.js'
import type { AccountStep, Users } from '../users.js'
import type { UsersTable } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { dropTokens } from './one-time-tokens.js'
import { dropFactor } from './second-factors.js'
import { endSessionsOf, recordUserChange, requireOne } from './user-passwords.js'

/** What the application's own calls do to accounts. */
export function administerUsers(steps: Steps): Pick<Users, 'updateAccount' | 'disable' | 'enable' | 'list'> {
  return {
    updateAccount(id, { name, roles, twoFactor }, step) {
      const values = {
        ...(name === undefined ? {} : { name }),
        ...(roles === undefined ? {} : { roles: JSON.stringify(roles) }),
      }
      if (twoFactor === undefined) return change(steps, id, step, values)
      return change(steps, id, step, { ...values, ...noFactor }, async (unit) => {
        await endSessionsOf(unit, id)
        await dropFactor(unit, id)
      })
    },

    disable: (id, { at, until }, step) =>
      change(steps, id, step, { disabled_at: at, disabled_until: until }, async (unit) => {
        await endSessionsOf(unit, id)
        await dropTokens(unit, id)
      }),

    enable: (id, step) => change(steps, id, step, { disabled_at: null, disabled_until: null }),

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

/** One statement for values and version, then what ends with it, then the telling. */
function change(
  steps: Steps,
  id: string,
  step: AccountStep,
  values: Updateable<UsersTable>,
  andThen?: (unit: Unit) => Promise<void>,
): Promise<UserRecord | null> {
  return steps.transaction<UserRecord | null>(async (unit) => {
    await unit.db
      .updateTable('latchkey_users')
      .set((eb) => ({ ...values, version: eb('version', '+', 1) }))
      .where('id', '=', id)
      .executeTakeFirst()
      .then(requireOne)
    await andThen?.(unit)
    return recordUserChange(unit, id, step)
  }, null)
}
