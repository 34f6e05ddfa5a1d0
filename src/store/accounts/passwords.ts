import type { UserRecord } from '../../model/user.js'
import { consumeToken, requireOwned, toTokenRow } from '../one-time-tokens.js'
import { Refused } from '../refused.js'
import { oneTimeTokens } from '../tables.js'
import type { Steps } from '../unit.js'
import { isEnabled, toUser } from '../user-rows.js'
import type { Users } from '../users.js'
import { changedPassword, entrustedAccount, entrustedProof, resetAccount } from './changes.js'
import { dropLosses, everyHold } from './losses.js'
import { changeUser, requireAt, requireUser, startAnew, wipeUnproven } from './steps.js'

/** Proofs of a mailbox, and passwords. Each step locks the user's row first, so a concurrent sign-in waits for it. */
export function changePasswords(
  steps: Steps,
): Pick<Users, 'proveMailbox' | 'resetPassword' | 'changePassword' | 'entrust'> {
  return {
    proveMailbox: (tokenId, purpose, now, step) =>
      steps.transaction<UserRecord | null>(async (unit) => {
        const owned = await requireOwned(unit, tokenId, purpose)
        const row = await requireUser(unit, owned.user_id)
        if (row.email_canonical !== owned.email || !isEnabled(row, now)) throw new Refused()
        await consumeToken(unit, tokenId, { purpose, now })
        const proved = await wipeUnproven(unit, row, step)
        if (!proved) return toUser(row)
        await dropLosses(unit, row.id, everyHold)
        return changeUser(unit, proved, step)
      }, null),

    resetPassword: (tokenId, purpose, passwordHash, now, step) =>
      steps.transaction<UserRecord | null>(async (unit) => {
        const owned = await requireOwned(unit, tokenId, purpose)
        const row = await requireUser(unit, owned.user_id)
        if (row.email_canonical !== owned.email || !isEnabled(row, now)) throw new Refused()
        await consumeToken(unit, tokenId, { purpose, now })
        const proved = (await wipeUnproven(unit, row, step)) ?? row
        const { values, losses } = resetAccount(passwordHash)
        await dropLosses(unit, row.id, losses)
        return changeUser(unit, { ...proved, ...values }, step)
      }, null),

    changePassword: ({ userId, version, fromSessionId, passwordHash, session }, step) =>
      steps.transaction<UserRecord | null>(async (unit) => {
        const row = await requireAt(unit, userId, version, session.createdAt)
        await startAnew(unit, { userId, fromSessionId, session })
        const { values, losses } = changedPassword(passwordHash)
        await dropLosses(unit, userId, losses)
        return changeUser(unit, { ...row, ...values }, step)
      }, null),

    entrust: ({ id, emailCanonical }, { passwordHash, invitation, now }, step) =>
      steps.transaction<UserRecord | null>(async (unit) => {
        const row = await requireUser(unit, id)
        if (row.email_canonical !== emailCanonical || !isEnabled(row, now)) throw new Refused()
        const proved = (await wipeUnproven(unit, row, { strict: true, renewal: entrustedProof })) ?? row
        const { values, losses } = entrustedAccount(passwordHash)
        await dropLosses(unit, id, losses)
        if (invitation) await unit.put(oneTimeTokens, toTokenRow(invitation, unit))
        return changeUser(unit, { ...proved, ...values }, step)
      }, null),
  }
}
