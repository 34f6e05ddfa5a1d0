import { isDisabled } from '../../model/user.js'
import { everyHold } from '../account-losses.js'
import { Refused } from '../refused.js'
import { toUser } from '../user-rows.js'
import type { Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Steps } from './engine/steps.js'
import { oneTimeTokens } from './engine/tables.js'
import { wipeUnproven } from './first-proof.js'
import { requireToken } from './one-time-tokens.js'
import { changeUser, requireUser } from './user-rows.js'

/** What a mailed token proves of its user. */
export function proveUsers(steps: Steps): Pick<Users, 'proveMailbox'> {
  return {
    proveMailbox: (tokenId, purpose, now, step) =>
      steps.step(async (unit) => {
        const token = await requireToken(unit, tokenId, { purpose, now })
        const row = await requireUser(unit, token.user_id)
        const user = toUser(row)
        if (user.emailCanonical !== token.email || isDisabled(user, now)) throw new Refused()
        unit.remove(oneTimeTokens, [token])
        const proved = await wipeUnproven(unit, row, step)
        if (!proved) return user
        await dropLosses(unit, row.id, everyHold)
        return changeUser(unit, proved, step)
      }, null),
  }
}
