import type { AuditEvent } from '../../model/audit-event.js'
import { sharedHandle } from '../../model/factors/passkey.js'
import { consumeToken, dropRegistrations, requireOwned, toTokenRow } from '../one-time-tokens.js'
import { writeMail } from '../outbox.js'
import { Refused } from '../refused.js'
import type { UsersTable } from '../rows.js'
import { oneTimeTokens, passkeys, users } from '../tables.js'
import type { Steps, Unit } from '../unit.js'
import { toUser, toUserRow } from '../user-rows.js'
import type { Users } from '../users.js'
import { profileColumns } from './changes.js'
import { withIdentity, writeIdentity } from './identity-rows.js'
import { dropLosses, lossesWithVerification } from './losses.js'
import { toPasskeyRow } from './passkey-rows.js'
import { claimAddress, requireUser } from './steps.js'

export function createAccounts(steps: Steps): Pick<Users, 'create' | 'createWithPasskeys' | 'createFromRegistration'> {
  return {
    createFromRegistration: (user, registrationId, now, audit, identity) =>
      steps.transaction(async (unit) => {
        // The address first: a step that waits for another one's claim holds no registration that the other one drops.
        await claimAddress(unit, toUserRow(withIdentity(user, identity)), now)
        const registration = await unit.get(oneTimeTokens, { id: registrationId })
        const fits = registration?.purpose === 'registration' && registration.email === user.emailCanonical
        if (!fits || registration.expires_at <= now) throw new Refused()
        if (identity) await writeIdentity(unit, identity)
        await dropRegistrations(unit, user.emailCanonical)
        unit.audit(audit)
        return true
      }, false),

    create: (user, audit, confirm) =>
      steps.transaction(async (unit) => {
        await writeUser(unit, toUserRow(user), audit)
        if (confirm) {
          await unit.put(oneTimeTokens, toTokenRow(confirm.token, unit))
          await writeMail(unit, confirm.mail)
        }
        return true
      }, false),

    createWithPasskeys: (user, given, audit) =>
      steps.transaction(async (unit) => {
        await writeUser(unit, { ...toUserRow(user), passkey_handle: sharedHandle(given) }, audit)
        await unit.put(passkeys, ...given.map(toPasskeyRow))
        return true
      }, false),
  }
}

/** @throws {Taken} */
async function writeUser(unit: Unit, row: UsersTable, audit: AuditEvent): Promise<void> {
  await claimAddress(unit, row, Math.floor(audit.atMs / 1000))
  await dropRegistrations(unit, row.email_canonical)
  unit.audit(audit)
}

export function changeAccounts(steps: Steps): Pick<Users, 'verifyEmail' | 'upgradePasswordHash' | 'updateProfile'> {
  return {
    verifyEmail: (tokenId, now, until, audit) =>
      steps.transaction(async (unit) => {
        const owned = await requireOwned(unit, tokenId, 'email_verification')
        const row = await requireUser(unit, owned.user_id)
        if (row.email_canonical !== owned.email) throw new Refused()
        await consumeToken(unit, tokenId, { purpose: 'email_verification', now })
        const changed = { ...row, email_verified: 1, verified_by: 'mailbox', version: row.version + 1 } as const
        await unit.put(users, changed)
        await dropLosses(unit, row.id, lossesWithVerification)
        unit.audit(audit)
        unit.change('user', [row.id], until, changed.version)
        return toUser(changed)
      }, null),

    async upgradePasswordHash(id, from, to) {
      await steps.write(users, { query: { id, password_hash: from }, set: { password_hash: to } })
    },

    updateProfile: (id, profile, audit) =>
      steps.transaction(async (unit) => {
        const row = await requireUser(unit, id)
        const changed = { ...row, ...profileColumns(profile) }
        await unit.put(users, changed)
        unit.audit(audit)
        return toUser(changed)
      }, null),
  }
}
