import { twoFactorSince } from '../../model/factors/kinds.js'
import type { UserRecord } from '../../model/user.js'
import { noFactor, toFactors } from '../factor-columns.js'
import { consumeToken, dropRegistrations, requireOwned, toTokenRow } from '../one-time-tokens.js'
import { writeMail } from '../outbox.js'
import { Refused, unlessLastAdmin, unlessTaken } from '../refused.js'
import type { OneTimeTokensTable, UsersTable } from '../rows.js'
import { oneTimeTokens } from '../tables.js'
import type { Steps, Unit } from '../unit.js'
import type { AccountStep, EmailChange, EmailUndo, Users } from '../users.js'
import { changedAddress, endedWait, restoredAddress } from './changes.js'
import { dropIdentities, linkedProviders } from './identity-rows.js'
import { keepingAdmin } from './last-admin.js'
import { dropLosses } from './losses.js'
import { dropPasskeysSince } from './passkey-rows.js'
import { spendProof } from './second-factors.js'
import { changeUser, claimAddress, requireAt, requireUser } from './steps.js'

/** Each step locks the user's row first, so that the changes and undos of one user queue up. */
export function changeEmails(steps: Steps): Pick<Users, 'changeEmail' | 'undoEmail'> {
  return {
    changeEmail: (tokenId, change, now, step) =>
      unlessLastAdmin(() =>
        unlessTaken(() => steps.transaction((unit) => moveTo(unit, change, { tokenId, now, step }))),
      ),

    undoEmail: (tokenId, undo, now, step) =>
      steps.transaction<UserRecord | null>((unit) => takeBack(unit, undo, { tokenId, now, step }), null),
  }
}

/** The common part of a change and an undo. */
interface Move {
  tokenId: string
  now: number
  step: AccountStep
}

async function moveTo(unit: Unit, change: EmailChange, { tokenId, now, step }: Move): Promise<UserRecord> {
  const { email, verifiedBy, version, undo, keepAdmin: emails = [] } = change
  const owned = await requireOwned(unit, tokenId, 'email_change')
  const id = owned.user_id
  return keepingAdmin(unit, { id, emails, now }, async () => {
    const row = await requireAt(unit, id, version, now)
    if (row.email_canonical !== undo.token.email) throw new Refused()
    await consumeToken(unit, tokenId, { purpose: 'email_change', now })
    // Only a proven address gets an undo.
    if (row.email_verified === 1) {
      await unit.put(oneTimeTokens, toTokenRow(undo.token, unit))
      await writeMail(unit, undo.mail)
    }
    const { values, losses } = changedAddress({ typed: email, canonical: owned.email }, verifiedBy)
    const moved = { ...row, ...values }
    await claimAddress(unit, moved, now)
    await dropLosses(unit, id, losses)
    await dropRegistrations(unit, owned.email)
    return changeUser(unit, moved, step)
  })
}

async function takeBack(
  unit: Unit,
  { email, factorSince, proof }: EmailUndo,
  { tokenId, now, step }: Move,
): Promise<UserRecord> {
  const owned = await requireOwned(unit, tokenId, 'email_undo')
  const row = await requireUser(unit, owned.user_id)
  const answered = await answer(unit, row, { factorSince, proof, now })
  await consumeToken(unit, tokenId, { purpose: 'email_undo', now })
  const { values, losses } = restoredAddress({ typed: email, canonical: owned.email })
  await claimAddress(unit, { ...answered, ...values }, now)
  await dropLaterUndos(unit, owned)
  // Also those of that same second. The owner can link an identity again, but a thief's identity would stay.
  await dropIdentities(unit, { user_id: row.id, linked_at: { gte: owned.created_at } })
  const identities = await linkedProviders(unit, row.id)
  const passkeys = await dropPasskeysSince(unit, row.id, owned.created_at)
  const [wait] = await unit.find(oneTimeTokens, { user_id: row.id, purpose: 'account_deletion' })
  const ended = wait ? endedWait({ reason: row.disabled_reason }) : {}
  await dropLosses(unit, row.id, losses)
  return changeUser(unit, { ...answered, ...values, ...ended, identities, passkeys }, step)
}

/**
 * The row, if the factor that was on at the change is proved or no longer on. A factor that was turned on since may belong to
 * the person who made the change. It needs no proof and is removed.
 *
 * @throws {Refused} when the proof is used up, missing, or of a factor that is gone
 */
async function answer(
  unit: Unit,
  row: UsersTable,
  { factorSince, proof, now }: Pick<EmailUndo, 'factorSince' | 'proof'> & Pick<Move, 'now'>,
): Promise<UsersTable> {
  const since = twoFactorSince({ factors: toFactors(row) })
  if (proof) {
    if (since !== factorSince) throw new Refused()
    return spendProof(unit, row, proof, now)
  }
  if (factorSince !== null && since === factorSince) throw new Refused()
  await dropLosses(unit, row.id, { backupCodes: true })
  return { ...row, ...noFactor }
}

/** The earlier owner of the address wins: later undos stem from changes that a thief may have made. */
async function dropLaterUndos(unit: Unit, { user_id, created_at, ordinal }: OneTimeTokensTable): Promise<void> {
  if (user_id === null) return
  const undos = await unit.find(oneTimeTokens, { user_id, purpose: 'email_undo' })
  const later = undos.filter(
    (undo) => undo.created_at > created_at || (undo.created_at === created_at && undo.ordinal > ordinal),
  )
  await unit.remove(oneTimeTokens, later)
}
