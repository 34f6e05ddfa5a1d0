import type { Kysely } from 'kysely'
import type { UserRecord } from '../../model/user.js'
import { mayRemove, signsInAt } from '../../model/ways-in.js'
import { credentialHash, toPasskey, toPasskeyRow } from '../passkey-rows.js'
import type { AddingPasskey, Passkeys, RemovingPasskey } from '../passkeys.js'
import { Refused, Taken, unlessTaken } from '../refused.js'
import { toUser } from '../user-rows.js'
import type { AccountStep } from '../users.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import type { Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { requireSession, requireUser } from './identities.js'
import { writeMail } from './outbox.js'
import { columnsBesideUser, passkeysOf, recordPasskeys } from './passkey-rows.js'
import { refuseTaken } from './taken-addresses.js'
import { recordUserChange, requireOne, startAnew } from './user-passwords.js'
import { holdUser, isEnabled } from './user-rows.js'

/** Each step that changes which passkeys there are writes the user's row first, so that such steps of one user queue up. */
export function createPasskeys(steps: Steps): Passkeys {
  return {
    ...findPasskeys(steps),

    add: (adding, step) => unlessTaken(() => steps.transaction((unit) => add(unit, adding, step))),

    rename: (userId, id, name, audit) =>
      steps.transaction(async (unit) => {
        await unit.db
          .updateTable('latchkey_passkeys')
          .set({ name })
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .executeTakeFirst()
          .then(requireOne)
        await writeAudit(unit, audit)
        return (await passkeysOf(unit.db, userId)).filter((row) => row.id === id).map(toPasskey)[0] ?? null
      }, null),

    remove: (removing, step) =>
      steps.transaction<UserRecord | 'last' | null>((unit) => remove(unit, removing, step), null),

    suspend: (userId, id, now, step) =>
      steps.transaction(async (unit) => {
        await holdUser(unit, userId).executeTakeFirst().then(requireOne)
        await unit.db
          .updateTable('latchkey_passkeys')
          .set({ suspended_at: now })
          .where('id', '=', id)
          .where('user_id', '=', userId)
          .where('suspended_at', 'is', null)
          .executeTakeFirst()
          .then(requireOne)
        await dropLosses(unit, userId, { sessions: true })
        await recordLoss(unit, userId, step)
        return true
      }, false),
  }
}

function findPasskeys(steps: Steps): Pick<Passkeys, 'handleOf' | 'find' | 'list' | 'countOfOthers'> {
  return {
    handleOf: (userId, fresh) =>
      fresh === undefined
        ? steps.step((db) => readHandle(db, userId))
        : steps.transaction(async ({ db }) => {
            await db
              .updateTable('latchkey_users')
              .set({ passkey_handle: fresh })
              .where('id', '=', userId)
              .where('passkey_handle', 'is', null)
              .execute()
            return readHandle(db, userId)
          }),

    find: (rpId, credentialId) =>
      steps.step(async (db) => {
        const row = await db
          .selectFrom('latchkey_passkeys')
          .innerJoin('latchkey_users', 'latchkey_users.id', 'latchkey_passkeys.user_id')
          .selectAll('latchkey_users')
          .select(columnsBesideUser)
          .where('latchkey_passkeys.rp_id', '=', rpId)
          .where('latchkey_passkeys.credential_hash', '=', credentialHash(credentialId))
          .executeTakeFirst()
        if (!row) return null
        const { passkey_id: id, passkey_name: name, passkey_created_at: created_at } = row
        return { passkey: toPasskey({ ...row, id, name, created_at }), user: toUser(row) }
      }),

    list: (userId) => steps.step(async (db) => (await passkeysOf(db, userId)).map(toPasskey)),

    countOfOthers: (rpId) =>
      steps.step(async (db) => {
        const counted = db.selectFrom('latchkey_passkeys').select((eb) => eb.fn.countAll().as('count'))
        const row = await counted.where('rp_id', '<>', rpId).executeTakeFirst()
        return Number(row?.count ?? 0)
      }),
  }
}

async function readHandle(db: Kysely<Tables>, userId: string): Promise<string | null> {
  const users = db.selectFrom('latchkey_users').select('passkey_handle')
  const row = await users.where('id', '=', userId).executeTakeFirst()
  return row?.passkey_handle ?? null
}

async function add(
  unit: Unit,
  { passkey, fromSessionId: sessionId, max }: AddingPasskey,
  { audit, mail }: AccountStep,
): Promise<UserRecord | 'limit'> {
  const { userId, createdAt: now } = passkey
  await holdUser(unit, userId).where(isEnabled(now)).executeTakeFirst().then(requireOne)
  await requireSession(unit, { userId, sessionId, now })
  const row = toPasskeyRow(passkey)
  const former = await unit.db
    .selectFrom('latchkey_passkeys')
    .select('id')
    .where('rp_id', '=', row.rp_id)
    .where('credential_hash', '=', row.credential_hash)
    .executeTakeFirst()
  if (former) throw new Taken()
  if ((await passkeysOf(unit.db, userId)).length >= max) return 'limit'
  await unit.db.insertInto('latchkey_passkeys').values(row).execute().catch(refuseTaken)
  await recordPasskeys(unit, userId)
  // It revokes no token, so no other process needs a change row.
  await writeAudit(unit, audit)
  if (mail) await writeMail(unit, mail)
  return requireUser(unit.db, userId)
}

async function remove(
  unit: Unit,
  { userId, id, by }: RemovingPasskey,
  step: AccountStep,
): Promise<UserRecord | 'last'> {
  await holdUser(unit, userId).executeTakeFirst().then(requireOne)
  const rows = await passkeysOf(unit.db, userId)
  if (!rows.some((row) => row.id === id)) throw new Refused()
  const user = await requireUser(unit.db, userId)
  const factor = user.factors.find((each) => each.kind === 'passkey' && each.id === id)
  if (by && factor && !mayRemove(user, { kind: 'factor', factor }, signsInAt(by.rpId))) return 'last'
  if (by) await startAnew(unit, { userId, ...by })
  else await dropLosses(unit, userId, { sessions: true })
  await unit.db.deleteFrom('latchkey_passkeys').where('id', '=', id).execute()
  return recordLoss(unit, userId, step)
}

/** The last writes of a step that takes a passkey from its user. */
async function recordLoss(unit: Unit, userId: string, step: AccountStep): Promise<UserRecord> {
  await recordPasskeys(unit, userId)
  await dropLosses(unit, userId, { tokens: ['two_factor'] })
  await unit.db
    .updateTable('latchkey_users')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', userId)
    .execute()
  return recordUserChange(unit, userId, step)
}
