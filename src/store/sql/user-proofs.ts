import { isDisabled, type UserRecord } from '../../model/user.js'
import { everyHold } from '../account-losses.js'
import { Refused } from '../refused.js'
import type { Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Steps } from './engine/steps.js'
import { wipeUnproven } from './first-proof.js'
import { consumeToken, ownerOf } from './one-time-tokens.js'
import { recordUserChange, requireOne } from './user-passwords.js'
import { isEnabled, readUser } from './user-rows.js'

/** Steps in which a mailed token proves the user's mailbox. */
export function proveUsers(steps: Steps): Pick<Users, 'proveMailbox'> {
  return {
    async proveMailbox(tokenId, purpose, now, step) {
      const owner = await ownerOf(steps, tokenId, purpose)
      if (!owner) return null
      return steps.transaction<UserRecord | null>(async (unit) => {
        const first = await wipeUnproven(unit, owner.id, step)
        if (first) {
          await unit.db
            .updateTable('latchkey_users')
            .set((eb) => ({ version: eb('version', '+', 1) }))
            .where('id', '=', owner.id)
            .where('email_canonical', '=', owner.email)
            .where(isEnabled(now))
            .executeTakeFirst()
            .then(requireOne)
        }
        await consumeToken(unit, tokenId, { purpose, now })
        if (first) {
          await dropLosses(unit, owner.id, everyHold)
          return recordUserChange(unit, owner.id, step)
        }
        // No column of the user was written. A concurrent change raises the version, so no session opens by this proof.
        const user = await readUser(unit.db, 'id', owner.id)
        if (user?.emailCanonical !== owner.email || isDisabled(user, now)) throw new Refused()
        return user
      }, null)
    },
  }
}
