import type { AuditEvent } from '../../model/audit-event.js'
import { sharedHandle } from '../../model/factors/passkey.js'
import type { UserRecord } from '../../model/user.js'
import { profileColumns } from '../account-changes.js'
import { lossesWithVerification } from '../account-losses.js'
import { withIdentity } from '../identity-rows.js'
import { toTokenRow } from '../one-time-token-rows.js'
import { toPasskeyRow } from '../passkey-rows.js'
import { Refused } from '../refused.js'
import { toUserRow } from '../user-rows.js'
import type { Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import type { Steps, Unit } from './engine/steps.js'
import { writeIdentity } from './identity-rows.js'
import { ownerOf } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { dropRegistrations, refuseReserved, refuseTaken } from './taken-addresses.js'
import { administerUsers } from './user-administration.js'
import { deleteUsers } from './user-deletion.js'
import { changeEmails } from './user-emails.js'
import { changePasswords } from './user-passwords.js'
import { proveUsers } from './user-proofs.js'
import { readUser, userColumns } from './user-rows.js'

export function createUsers(steps: Steps): Users {
  return {
    findById: (id) => steps.step((db) => readUser(db, 'id', id)),
    findByEmail: (email) => steps.step((db) => readUser(db, 'email_canonical', email)),
    ...createAccounts(steps),
    ...changeAccounts(steps),
    ...changeEmails(steps),
    ...changePasswords(steps),
    ...proveUsers(steps),
    ...administerUsers(steps),
    ...deleteUsers(steps),
  }
}

function createAccounts(steps: Steps): Pick<Users, 'create' | 'createWithPasskeys' | 'createFromRegistration'> {
  return {
    createFromRegistration: (user, registrationId, now, audit, identity) =>
      steps.transaction(async (unit) => {
        // One statement decides: the registration must be live, and the unique address admits one of many.
        const row = toUserRow(withIdentity(user, identity))
        const insert = unit.db
          .insertInto('latchkey_users')
          .columns(userColumns)
          .expression((eb) =>
            eb
              .selectFrom('latchkey_one_time_tokens')
              .select((selected) => userColumns.map((column) => selected.val(row[column]).as(column)))
              .where('id', '=', registrationId)
              .where('purpose', '=', 'registration')
              .where('email', '=', user.emailCanonical)
              .where('expires_at', '>', now),
          )
        const { numInsertedOrUpdatedRows } = await insert.executeTakeFirst().catch(refuseTaken)
        if (numInsertedOrUpdatedRows === 0n) return false
        await refuseReserved(unit, user.emailCanonical, { now, userId: user.id })
        if (identity) await writeIdentity(unit, identity)
        await dropRegistrations(unit, user.emailCanonical)
        await writeAudit(unit, audit)
        return true
      }, false),

    create: (user, audit, confirm) =>
      steps.transaction(async (unit) => {
        await writeUser(unit, user, audit)
        if (confirm) {
          await unit.db.insertInto('latchkey_one_time_tokens').values(toTokenRow(confirm.token, unit)).execute()
          await writeMail(unit, confirm.mail)
        }
        return true
      }, false),

    createWithPasskeys: (user, passkeys, audit) =>
      steps.transaction(async (unit) => {
        await writeUser(unit, user, audit)
        const rows = passkeys.map(toPasskeyRow)
        if (rows.length > 0) await unit.db.insertInto('latchkey_passkeys').values(rows).execute().catch(refuseTaken)
        const passkey_handle = sharedHandle(passkeys)
        if (passkey_handle !== null) {
          await unit.db.updateTable('latchkey_users').set({ passkey_handle }).where('id', '=', user.id).execute()
        }
        return true
      }, false),
  }
}

/** @throws {Taken} */
async function writeUser(unit: Unit, user: UserRecord, audit: AuditEvent): Promise<void> {
  await unit.db.insertInto('latchkey_users').values(toUserRow(user)).execute().catch(refuseTaken)
  await refuseReserved(unit, user.emailCanonical, { now: Math.floor(audit.atMs / 1000), userId: user.id })
  await dropRegistrations(unit, user.emailCanonical)
  await writeAudit(unit, audit)
}

function changeAccounts(steps: Steps): Pick<Users, 'verifyEmail' | 'upgradePasswordHash' | 'updateProfile'> {
  return {
    async verifyEmail(tokenId, now, until, audit) {
      const owner = await ownerOf(steps, tokenId, 'email_verification')
      if (!owner) return null
      return steps.transaction<UserRecord | null>(async (unit) => {
        if (!(await consume(unit, tokenId, now))) return null
        const user = await markVerified(unit, owner)
        await writeAudit(unit, audit)
        await writeChanges(unit, 'user', [user.id], until, user.version)
        return user
      }, null)
    },

    async upgradePasswordHash(id, from, to) {
      await steps.step((db) =>
        db
          .updateTable('latchkey_users')
          .set({ password_hash: to })
          .where('id', '=', id)
          .where('password_hash', '=', from)
          .execute(),
      )
    },

    updateProfile: (id, profile, audit) =>
      steps.transaction(async (unit) => {
        const { numUpdatedRows } = await unit.db
          .updateTable('latchkey_users')
          .set((eb) => ({
            version: eb.ref('version'),
            ...profileColumns(profile),
          }))
          .where('id', '=', id)
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return null
        await writeAudit(unit, audit)
        return readUser(unit.db, 'id', id)
      }),
  }
}

/** The deciding write: of many concurrent calls with the token, one deletes it. */
async function consume(unit: Unit, tokenId: string, now: number): Promise<boolean> {
  const { numDeletedRows } = await unit.db
    .deleteFrom('latchkey_one_time_tokens')
    .where('id', '=', tokenId)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** @throws {Refused} when the user is gone or has another address by now; the token then stays as well */
async function markVerified(unit: Unit, owner: { id: string; email: string }): Promise<UserRecord> {
  await unit.db
    .updateTable('latchkey_users')
    .set((eb) => ({ email_verified: 1, verified_by: 'mailbox', version: eb('version', '+', 1) }))
    .where('id', '=', owner.id)
    .where('email_canonical', '=', owner.email)
    .execute()
  const user = await readUser(unit.db, 'id', owner.id)
  if (user?.emailCanonical !== owner.email) throw new Refused()
  await dropLosses(unit, owner.id, lossesWithVerification)
  return user
}
