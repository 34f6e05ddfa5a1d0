import { twoFactorSince } from '../../model/factors/kinds.js'
import type { UserRecord } from '../../model/user.js'
import { changedAddress, endedWait, restoredAddress } from '../account-changes.js'
import { noFactor, toFactors } from '../factor-columns.js'
import { toTokenRow } from '../one-time-token-rows.js'
import { Refused, unlessLastAdmin, unlessTaken } from '../refused.js'
import type { OneTimeTokensTable, UsersTable } from '../rows.js'
import type { AccountStep, EmailChange, EmailUndo, Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Steps } from './engine/steps.js'
import { oneTimeTokens } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { dropIdentities, linkedProviders } from './identity-rows.js'
import { keepingAdmin } from './last-admin.js'
import { dropRegistrations, requireToken } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { dropPasskeysSince } from './passkey-rows.js'
import { spendProof } from './second-factors.js'
import { requireFree } from './taken-addresses.js'
import { changeUser, requireAt, requireUser } from './user-rows.js'

export function changeEmails(steps: Steps): Pick<Users, 'changeEmail' | 'undoEmail'> {
  return {
    changeEmail: (tokenId, change, now, step) =>
      unlessLastAdmin(() => unlessTaken(() => steps.step((unit) => moveTo(unit, change, { tokenId, now, step })))),

    undoEmail: (tokenId, undo, now, step) =>
      steps.step<UserRecord | null>((unit) => takeBack(unit, undo, { tokenId, now, step }), null),
  }
}

/** The common part of a change and an undo. */
interface Move {
  tokenId: string
  now: number
  step: AccountStep
}

async function moveTo(
  unit: Unit,
  { email, verifiedBy, version, undo, keepAdmin: emails = [] }: EmailChange,
  { tokenId, now, step }: Move,
): Promise<UserRecord> {
  const token = await requireToken(unit, tokenId, { purpose: 'email_change', now })
  const row = await requireAt(unit, token.user_id, version, now)
  if (row.email_canonical !== undo.token.email) throw new Refused()
  await requireFree(unit, token.email, { now, userId: row.id })
  unit.remove(oneTimeTokens, [token])
  const { values, losses } = changedAddress({ typed: email, canonical: token.email }, verifiedBy)
  await dropLosses(unit, row.id, losses)
  await dropRegistrations(unit, token.email)
  // Only a proven address gets an undo.
  if (row.email_verified === 1) {
    unit.put(oneTimeTokens, toTokenRow(undo.token, unit))
    writeMail(unit, undo.mail)
  }
  return keepingAdmin(unit, { id: row.id, emails, now }, () => changeUser(unit, { ...row, ...values }, step))
}

async function takeBack(
  unit: Unit,
  { email, factorSince, proof }: EmailUndo,
  { tokenId, now, step }: Move,
): Promise<UserRecord> {
  const token = await requireToken(unit, tokenId, { purpose: 'email_undo', now })
  const row = await requireUser(unit, token.user_id)
  await requireFree(unit, token.email, { now, userId: row.id })
  const answered = await answer(unit, row, { factorSince, proof, now })
  unit.remove(oneTimeTokens, [token])
  await dropLaterUndos(unit, token)
  // Also those of that same second. The owner can link an identity again, but a thief's identity would stay.
  await dropIdentities(unit, row.id, ({ linked_at }) => linked_at >= token.created_at)
  const identities = await linkedProviders(unit, row.id)
  const passkeys = await dropPasskeysSince(unit, row.id, token.created_at)
  const { values, losses } = restoredAddress({ typed: email, canonical: token.email })
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
  unit.remove(oneTimeTokens, later)
}
