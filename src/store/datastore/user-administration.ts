import type { UserRecord } from '../../model/user.js'
import { noFactor } from '../factor-columns.js'
import type { UsersTable } from '../rows.js'
import { toUser } from '../user-rows.js'
import type { AccountStep, Users } from '../users.js'
import type { Steps } from './engine/steps.js'
import { users } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { dropSessions } from './first-proof.js'
import { newestBefore } from './newest-before.js'
import { dropTokens } from './one-time-tokens.js'
import { dropFactor } from './second-factors.js'
import { changeUser, requireUser } from './user-rows.js'

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
        await dropSessions(unit, id)
        await dropFactor(unit, id)
      })
    },

    disable: (id, { at, until }, step) =>
      change(steps, id, step, { disabled_at: at, disabled_until: until }, async (unit) => {
        await dropSessions(unit, id)
        await dropTokens(unit, id)
      }),

    enable: (id, step) => change(steps, id, step, { disabled_at: null, disabled_until: null }),

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
  step: AccountStep,
  values: Partial<UsersTable>,
  andThen?: (unit: Unit) => Promise<void>,
): Promise<UserRecord | null> {
  return steps.step<UserRecord | null>(async (unit) => {
    const row = await requireUser(unit, id)
    await andThen?.(unit)
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
