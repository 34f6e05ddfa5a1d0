import type { UserRecord } from '../../model/user.js'
import { changedAddress, endedWait, restoredAddress } from '../account-changes.js'
import { noFactor, raisedStep } from '../factor-columns.js'
import { toTokenRow } from '../one-time-token-rows.js'
import { unlessLastAdmin, unlessTaken } from '../refused.js'
import type { AccountStep, EmailChange, EmailUndo, Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Steps, Unit } from './engine/steps.js'
import { dropIdentitiesSince } from './identity-rows.js'
import { keepingAdmin } from './last-admin.js'
import { consumeToken, ownerOf, type TokenOwner, tokenColumns } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { dropPasskeysSince } from './passkey-rows.js'
import { acceptsUndo, spendRow } from './second-factors.js'
import { dropRegistrations, refuseReserved, refuseTaken } from './taken-addresses.js'
import { recordUserChange, requireOne } from './user-passwords.js'
import { isEnabled } from './user-rows.js'

/** Each step writes the user's row first, so that the changes and undos of one user queue up. */
export function changeEmails(steps: Steps): Pick<Users, 'changeEmail' | 'undoEmail'> {
  return {
    async changeEmail(tokenId, change, now, step) {
      const owner = await ownerOf(steps, tokenId, 'email_change')
      if (!owner) return null
      const { id } = owner
      const emails = change.keepAdmin ?? []
      return unlessLastAdmin(() =>
        unlessTaken(() =>
          steps.transaction((unit) =>
            keepingAdmin(unit, { id, emails, now }, () => moveTo(unit, owner, { ...change, tokenId, now, step })),
          ),
        ),
      )
    },

    async undoEmail(tokenId, undo, now, step) {
      const owner = await ownerOf(steps, tokenId, 'email_undo')
      if (!owner) return null
      return steps.transaction<UserRecord | null>(
        (unit) => takeBack(unit, owner, { ...undo, tokenId, now, step }),
        null,
      )
    },
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
  { id, email: canonical }: TokenOwner,
  { email, verifiedBy, version, undo, tokenId, now, step }: EmailChange & Move,
): Promise<UserRecord> {
  // Locks the row: until the commit no other transaction decides whether the former address is verified.
  await unit.db
    .updateTable('latchkey_users')
    .set({ version: version + 1 })
    .where('id', '=', id)
    .where('version', '=', version)
    .where('email_canonical', '=', undo.token.email)
    .where(isEnabled(now))
    .executeTakeFirst()
    .then(requireOne)
  await consumeToken(unit, tokenId, { purpose: 'email_change', now })
  await keepUndo(unit, undo)
  const { values, losses } = changedAddress({ typed: email, canonical }, verifiedBy)
  await unit.db.updateTable('latchkey_users').set(values).where('id', '=', id).execute().catch(refuseTaken)
  await refuseReserved(unit, canonical, { now, userId: id })
  await dropLosses(unit, id, losses)
  await dropRegistrations(unit, canonical)
  return recordUserChange(unit, id, step)
}

async function takeBack(
  unit: Unit,
  owner: TokenOwner,
  { email, factorSince, proof, tokenId, now, step }: EmailUndo & Move,
): Promise<UserRecord> {
  const { values, losses } = restoredAddress({ typed: email, canonical: owner.email })
  await unit.db
    .updateTable('latchkey_users')
    .set((eb) => ({
      ...values,
      version: eb('version', '+', 1),
      ...(proof ? raisedStep(proof) : noFactor),
    }))
    .where('id', '=', owner.id)
    .where(acceptsUndo({ factorSince, proof }))
    .executeTakeFirst()
    .catch(refuseTaken)
    .then(requireOne)
  if (proof) await spendRow(unit, owner.id, proof, now)
  else await dropLosses(unit, owner.id, { backupCodes: true })
  await consumeToken(unit, tokenId, { purpose: 'email_undo', now })
  await dropLaterUndos(unit, owner)
  await endWait(unit, owner.id)
  await dropIdentitiesSince(unit, owner.id, owner.createdAt)
  await dropPasskeysSince(unit, owner.id, owner.createdAt)
  await dropLosses(unit, owner.id, losses)
  return recordUserChange(unit, owner.id, step)
}

/** One statement decides whether the user's current address was verified. Only then is an undo kept. */
async function keepUndo(unit: Unit, { token, mail }: EmailChange['undo']): Promise<void> {
  const values = toTokenRow(token, unit)
  const { numInsertedOrUpdatedRows } = await unit.db
    .insertInto('latchkey_one_time_tokens')
    .columns(tokenColumns)
    .expression((eb) =>
      eb
        .selectFrom('latchkey_users')
        .select((row) => tokenColumns.map((column) => row.val(values[column]).as(column)))
        .where('id', '=', token.subject)
        .where('email_canonical', '=', token.email)
        .where('email_verified', '=', 1),
    )
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows) await writeMail(unit, mail)
}

/** An account that waited for its deletion is enabled again. `dropLosses` drops the token that marked the wait. */
async function endWait(unit: Unit, userId: string): Promise<void> {
  const wait = await unit.db
    .selectFrom('latchkey_one_time_tokens')
    .innerJoin('latchkey_users', 'latchkey_users.id', 'latchkey_one_time_tokens.user_id')
    .select('latchkey_users.disabled_reason as reason')
    .where('user_id', '=', userId)
    .where('purpose', '=', 'account_deletion')
    .executeTakeFirst()
  const values = wait ? endedWait(wait) : {}
  if (Object.keys(values).length === 0) return
  await unit.db.updateTable('latchkey_users').set(values).where('id', '=', userId).execute()
}

/** The earlier owner of the address wins: later undos stem from changes that a thief may have made. */
async function dropLaterUndos(unit: Unit, { id, createdAt, ordinal }: TokenOwner): Promise<void> {
  await unit.db
    .deleteFrom('latchkey_one_time_tokens')
    .where('user_id', '=', id)
    .where('purpose', '=', 'email_undo')
    .where((eb) =>
      eb.or([
        eb('created_at', '>', createdAt),
        eb.and([eb('created_at', '=', createdAt), eb('ordinal', '>', ordinal)]),
      ]),
    )
    .execute()
}
