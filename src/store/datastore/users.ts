import type { AuditEvent } from '../../model/audit-event.js'
import { sharedHandle } from '../../model/factors/passkey.js'
import type { UserRecord } from '../../model/user.js'
import { profileColumns } from '../account-changes.js'
import { lossesWithVerification } from '../account-losses.js'
import { withIdentity } from '../identity-rows.js'
import { toTokenRow } from '../one-time-token-rows.js'
import { toPasskeyRow } from '../passkey-rows.js'
import { Refused, Taken } from '../refused.js'
import { toUser, toUserRow } from '../user-rows.js'
import type { Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import type { Steps } from './engine/steps.js'
import { oneTimeTokens, passkeyKey, passkeys, users } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { writeIdentity } from './identity-rows.js'
import { dropRegistrations, requireToken } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { requireFree } from './taken-addresses.js'
import { administerUsers } from './user-administration.js'
import { deleteUsers } from './user-deletion.js'
import { changeEmails } from './user-emails.js'
import { changePasswords } from './user-passwords.js'
import { proveUsers } from './user-proofs.js'
import { findByEmail, recordUserChange, requireUser } from './user-rows.js'

export function createUsers(steps: Steps): Users {
  return {
    findById: (id) =>
      steps.read(async (view) => {
        const row = await view.get(users, id)
        return row && toUser(row)
      }),
    findByEmail: (email) =>
      steps.read(async (view) => {
        const row = await findByEmail(view, email)
        return row && toUser(row)
      }),
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
      steps.step(async (unit) => {
        const registration = await unit.get(oneTimeTokens, registrationId)
        const fits = registration?.purpose === 'registration' && registration.email === user.emailCanonical
        if (!fits || registration.expires_at <= now) return false
        await requireFree(unit, user.emailCanonical, { now, userId: user.id })
        unit.put(users, toUserRow(withIdentity(user, identity)))
        if (identity) await writeIdentity(unit, identity)
        unit.remove(oneTimeTokens, [registration])
        await dropRegistrations(unit, user.emailCanonical)
        await writeAudit(unit, audit)
        return true
      }, false),

    create: (user, audit, confirm) =>
      steps.step(async (unit) => {
        await writeUser(unit, user, audit)
        if (confirm) {
          unit.put(oneTimeTokens, toTokenRow(confirm.token, unit))
          writeMail(unit, confirm.mail)
        }
        return true
      }, false),

    createWithPasskeys: (user, given, audit) =>
      steps.step(async (unit) => {
        await writeUser(unit, user, audit)
        unit.put(users, { ...toUserRow(user), passkey_handle: sharedHandle(given) })
        for (const row of given.map(toPasskeyRow)) {
          if (await unit.get(passkeys, passkeyKey(row))) throw new Taken()
          unit.put(passkeys, row)
        }
        return true
      }, false),
  }
}

/** @throws {Taken} */
async function writeUser(unit: Unit, user: UserRecord, audit: AuditEvent): Promise<void> {
  await requireFree(unit, user.emailCanonical, { now: Math.floor(audit.atMs / 1000), userId: user.id })
  unit.put(users, toUserRow(user))
  await dropRegistrations(unit, user.emailCanonical)
  await writeAudit(unit, audit)
}

function changeAccounts(steps: Steps): Pick<Users, 'verifyEmail' | 'upgradePasswordHash' | 'updateProfile'> {
  return {
    verifyEmail: (tokenId, now, until, audit) =>
      steps.step(async (unit) => {
        const token = await requireToken(unit, tokenId, { purpose: 'email_verification', now })
        const row = await requireUser(unit, token.user_id)
        if (row.email_canonical !== token.email) throw new Refused()
        const changed = { ...row, email_verified: 1, verified_by: 'mailbox', version: row.version + 1 } as const
        unit.put(users, changed)
        unit.remove(oneTimeTokens, [token])
        await dropLosses(unit, row.id, lossesWithVerification)
        await writeAudit(unit, audit)
        recordUserChange(unit, changed, until)
        return toUser(changed)
      }, null),

    upgradePasswordHash: (id, from, to) =>
      steps.step(async (unit) => {
        const row = await unit.get(users, id)
        if (row?.password_hash === from) unit.put(users, { ...row, password_hash: to })
      }),

    updateProfile: (id, profile, audit) =>
      steps.step(async (unit) => {
        const row = await requireUser(unit, id)
        const changed = { ...row, ...profileColumns(profile) }
        unit.put(users, changed)
        await writeAudit(unit, audit)
        return toUser(changed)
      }, null),
  }
}
