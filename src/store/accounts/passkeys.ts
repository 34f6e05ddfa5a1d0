import type { UserRecord } from '../../model/user.js'
import { mayRemove, signsInAt } from '../../model/ways-in.js'
import { writeMail } from '../outbox.js'
import type { AddingPasskey, Passkeys, RemovingPasskey } from '../passkeys.js'
import { Refused, Taken, unlessTaken } from '../refused.js'
import { passkeys, users } from '../tables.js'
import type { Steps, Unit } from '../unit.js'
import { isEnabled, toUser } from '../user-rows.js'
import type { AccountStep } from '../users.js'
import { dropLosses } from './losses.js'
import { passkeyOf, passkeysOf, shownPasskeys, toPasskey, toPasskeyRow } from './passkey-rows.js'
import { changeUser, requireSession, requireUser, startAnew } from './steps.js'

/** All of it but two reads, which each store has in a way of its own: `find` is one statement in SQL. */
export function createPasskeys(steps: Steps): Omit<Passkeys, 'find' | 'countOfOthers'> {
  return {
    handleOf: (userId, fresh) =>
      fresh === undefined
        ? steps.glance(async (view) => (await view.get(users, { id: userId }))?.passkey_handle ?? null)
        : steps.transaction(async (unit) => {
            const row = await unit.get(users, { id: userId })
            if (!row || row.passkey_handle !== null) return row?.passkey_handle ?? null
            await unit.put(users, { ...row, passkey_handle: fresh })
            return fresh
          }),

    list: (userId) => steps.glance(async (view) => (await passkeysOf(view, userId)).map(toPasskey)),

    add: (adding, step) => unlessTaken(() => steps.transaction((unit) => add(unit, adding, step))),

    rename: (userId, id, name, audit) =>
      steps.transaction(async (unit) => {
        const row = await passkeyOf(unit, userId, id)
        if (!row) return null
        const renamed = { ...row, name }
        await unit.put(passkeys, renamed)
        unit.audit(audit)
        return toPasskey(renamed)
      }),

    remove: (removing, step) =>
      steps.transaction<UserRecord | 'last' | null>((unit) => remove(unit, removing, step), null),

    suspend: (userId, id, now, step) =>
      steps.transaction(async (unit) => {
        const user = await requireUser(unit, userId)
        const row = await passkeyOf(unit, userId, id)
        if (!row || row.suspended_at !== null) return false
        await unit.put(passkeys, { ...row, suspended_at: now })
        await dropLosses(unit, userId, { sessions: true, tokens: ['two_factor'] })
        await changeUser(unit, { ...user, passkeys: await shownPasskeys(unit, userId) }, step)
        return true
      }, false),
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
  if (await unit.get(passkeys, row)) throw new Taken()
  if ((await passkeysOf(unit, userId)).length >= max) return 'limit'
  await unit.put(passkeys, row)
  const changed = { ...user, passkeys: await shownPasskeys(unit, userId) }
  await unit.put(users, changed)
  unit.audit(audit)
  if (mail) await writeMail(unit, mail)
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
  await unit.remove(passkeys, removed)
  await dropLosses(unit, userId, { tokens: ['two_factor'] })
  return changeUser(unit, { ...row, passkeys: await shownPasskeys(unit, userId) }, step)
}
