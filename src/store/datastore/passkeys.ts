import type { UserRecord } from '../../model/user.js'
import { mayRemove, signsInAt } from '../../model/ways-in.js'
import { credentialHash, toPasskey, toPasskeyRow } from '../passkey-rows.js'
import type { AddingPasskey, Passkeys, RemovingPasskey } from '../passkeys.js'
import { Refused, Taken, unlessTaken } from '../refused.js'
import { toUser } from '../user-rows.js'
import type { AccountStep } from '../users.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import type { Steps } from './engine/steps.js'
import { passkeyKey, passkeys, users } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { requireSession } from './identities.js'
import { writeMail } from './outbox.js'
import { passkeysOf, shownPasskeys } from './passkey-rows.js'
import { startAnew } from './user-passwords.js'
import { changeUser, isEnabled, requireUser } from './user-rows.js'

export function createPasskeys(steps: Steps): Passkeys {
  return {
    ...findPasskeys(steps),

    add: (adding, step) => unlessTaken(() => steps.step((unit) => add(unit, adding, step))),

    rename: (userId, id, name, audit) =>
      steps.step(async (unit) => {
        const row = (await passkeysOf(unit, userId)).find((each) => each.id === id)
        if (!row) return null
        const renamed = { ...row, name }
        unit.put(passkeys, renamed)
        await writeAudit(unit, audit)
        return toPasskey(renamed)
      }),

    remove: (removing, step) => steps.step<UserRecord | 'last' | null>((unit) => remove(unit, removing, step), null),

    suspend: (userId, id, now, step) =>
      steps.step(async (unit) => {
        const user = await requireUser(unit, userId)
        const row = (await passkeysOf(unit, userId)).find((each) => each.id === id)
        if (!row || row.suspended_at !== null) return false
        unit.put(passkeys, { ...row, suspended_at: now })
        await dropLosses(unit, userId, { sessions: true, tokens: ['two_factor'] })
        await changeUser(unit, { ...user, passkeys: await shownPasskeys(unit, userId) }, step)
        return true
      }, false),
  }
}

function findPasskeys(steps: Steps): Pick<Passkeys, 'handleOf' | 'find' | 'list' | 'countOfOthers'> {
  return {
    handleOf: (userId, fresh) =>
      fresh === undefined
        ? steps.read(async (view) => (await view.get(users, userId))?.passkey_handle ?? null)
        : steps.step(async (unit) => {
            const row = await unit.get(users, userId)
            if (!row || row.passkey_handle !== null) return row?.passkey_handle ?? null
            unit.put(users, { ...row, passkey_handle: fresh })
            return fresh
          }),

    find: (rpId, credentialId) =>
      steps.read(async (view) => {
        const key = passkeyKey({ rp_id: rpId, credential_hash: credentialHash(credentialId) })
        const row = await view.get(passkeys, key)
        const user = row && (await view.get(users, row.user_id))
        return row && user && { passkey: toPasskey(row), user: toUser(user) }
      }),

    list: (userId) => steps.read(async (view) => (await passkeysOf(view, userId)).map(toPasskey)),

    countOfOthers: (rpId) => steps.read(async (view) => (await view.find(passkeys, { rp_id: { ne: rpId } })).length),
  }
}

async function add(
  unit: Unit,
  { passkey, fromSessionId: sessionId, max }: AddingPasskey,
  { audit, mail }: AccountStep,
): Promise<UserRecord | 'limit'> {
  const { userId, createdAt: now } = passkey
  const user = await requireUser(unit, userId)
  if (!isEnabled(user, now)) throw new Refused()
  await requireSession(unit, { userId, sessionId, now })
  const row = toPasskeyRow(passkey)
  if (await unit.get(passkeys, passkeyKey(row))) throw new Taken()
  if ((await passkeysOf(unit, userId)).length >= max) return 'limit'
  unit.put(passkeys, row)
  const changed = { ...user, passkeys: await shownPasskeys(unit, userId) }
  unit.put(users, changed)
  await writeAudit(unit, audit)
  if (mail) writeMail(unit, mail)
  return toUser(changed)
}

async function remove(
  unit: Unit,
  { userId, id, by }: RemovingPasskey,
  step: AccountStep,
): Promise<UserRecord | 'last'> {
  const row = await requireUser(unit, userId)
  const removed = (await passkeysOf(unit, userId)).filter((each) => each.id === id)
  if (removed.length === 0) throw new Refused()
  const user = toUser(row)
  const factor = user.factors.find((each) => each.kind === 'passkey' && each.id === id)
  if (by && factor && !mayRemove(user, { kind: 'factor', factor }, signsInAt(by.rpId))) return 'last'
  if (by) await startAnew(unit, { userId, ...by })
  else await dropLosses(unit, userId, { sessions: true })
  unit.remove(passkeys, removed)
  await dropLosses(unit, userId, { tokens: ['two_factor'] })
  return changeUser(unit, { ...row, passkeys: await shownPasskeys(unit, userId) }, step)
}
