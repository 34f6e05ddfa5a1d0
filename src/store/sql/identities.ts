import type { ExpressionBuilder, Kysely } from 'kysely'
import type { UserRecord } from '../../model/user.js'
import { mayRemove, signsInAt } from '../../model/ways-in.js'
import { everyHold } from '../account-losses.js'
import type { Identities, Linking } from '../identities.js'
import { withIdentity } from '../identity-rows.js'
import { Refused, Taken, unlessTaken } from '../refused.js'
import { toUser, toUserRow } from '../user-rows.js'
import type { AccountStep } from '../users.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import type { Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { wipeUnproven } from './first-proof.js'
import { recordIdentityChange, writeIdentity } from './identity-rows.js'
import { dropTokens } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { dropRegistrations, refuseReserved, refuseTaken } from './taken-addresses.js'
import { recordUserChange, requireOne } from './user-passwords.js'
import { holdUser, isEnabled, readUser } from './user-rows.js'

/** Each step writes the user's row first, so that changes of one user's links, passwords and sessions queue up. */
export function createIdentities(steps: Steps): Identities {
  return { ...findIdentities(steps), ...linkIdentities(steps), ...unlinkIdentities(steps) }
}

function findIdentities(steps: Steps): Pick<Identities, 'find' | 'create'> {
  return {
    find: (provider, subject) =>
      steps.step(async (db) => {
        const row = await db
          .selectFrom('latchkey_identities as i')
          .innerJoin('latchkey_users as u', 'u.id', 'i.user_id')
          .selectAll('u')
          .where('i.provider', '=', provider)
          .where('i.subject', '=', subject)
          .executeTakeFirst()
        return row ? toUser(row) : null
      }),

    create: (user, identity, audit) =>
      steps.transaction(async (unit) => {
        const row = toUserRow(withIdentity(user, identity))
        await unit.db.insertInto('latchkey_users').values(row).execute().catch(refuseTaken)
        await refuseReserved(unit, user.emailCanonical, { now: Math.floor(audit.atMs / 1000), userId: user.id })
        await writeIdentity(unit, identity)
        await dropRegistrations(unit, user.emailCanonical)
        await writeAudit(unit, audit)
        return true
      }, false),
  }
}

function linkIdentities(steps: Steps): Pick<Identities, 'link' | 'linkByProof'> {
  return {
    link: (linking, step) => unlessTaken(() => steps.transaction((unit) => linkTo(unit, linking, step))),

    linkByProof: (identity, { email, verifiedBy }, step) =>
      unlessTaken(() =>
        steps.transaction(async (unit) => {
          const { userId: id, linkedAt: now } = identity
          if (!(await wipeUnproven(unit, id))) throw new Refused()
          await unit.db
            .updateTable('latchkey_users')
            .set((eb) => ({ verified_by: verifiedBy, version: eb('version', '+', 1) }))
            .where('id', '=', id)
            .where('email_canonical', '=', email)
            .where(isEnabled(now))
            .executeTakeFirst()
            .then(requireOne)
          await writeIdentity(unit, identity)
          await recordIdentityChange(unit, id)
          await dropLosses(unit, id, everyHold)
          return recordUserChange(unit, id, step)
        }),
      ),
  }
}

async function linkTo(unit: Unit, { identity, by }: Linking, step: AccountStep): Promise<UserRecord> {
  const { userId: id, provider, subject, linkedAt: now } = identity
  const holding = holdUser(unit, id).where(isEnabled(now))
  const deciding = 'email' in by ? holding.where(hasVerified(by.email)) : holding
  await deciding.executeTakeFirst().then(requireOne)
  if ('sessionId' in by) await requireSession(unit, { userId: id, sessionId: by.sessionId, now })

  // Read before the insert, because PostgreSQL aborts a transaction after a failed statement.
  const former = await unit.db
    .selectFrom('latchkey_identities')
    .select('user_id')
    .where('provider', '=', provider)
    .where('subject', '=', subject)
    .executeTakeFirst()
  if (former && former.user_id !== id) throw new Taken()
  if (!former) {
    await writeIdentity(unit, identity)
    await recordIdentityChange(unit, id)
    await recordLinkEvent(unit, step)
  }
  return requireUser(unit.db, id)
}

function unlinkIdentities(steps: Steps): Pick<Identities, 'unlink'> {
  return {
    unlink: ({ userId, provider, fromSessionId: sessionId, rpId }, step) =>
      steps.transaction<UserRecord | 'last' | null>(async (unit) => {
        await holdUser(unit, userId).executeTakeFirst().then(requireOne)
        await requireSession(unit, { userId, sessionId, now: Math.floor(step.audit.atMs / 1000) })
        const user = await requireUser(unit.db, userId)
        if (!user.identities.some((identity) => identity.provider === provider)) throw new Refused()
        if (!mayRemove(user, { kind: 'identity', provider }, signsInAt(rpId))) return 'last'
        await unit.db
          .deleteFrom('latchkey_identities')
          .where('user_id', '=', userId)
          .where('provider', '=', provider)
          .execute()
        await recordIdentityChange(unit, userId)
        await dropTokens(unit, userId, ['two_factor'])
        await recordLinkEvent(unit, step)
        return requireUser(unit.db, userId)
      }, null),
  }
}

function hasVerified(email: string) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) =>
    eb.and([eb('email_canonical', '=', email), eb('email_verified', '=', 1)])
}

/**
 * A separate statement after the one that locks the user's row. As a part of that statement, it would still see a session that
 * the previous holder of the lock has ended.
 *
 * @throws {Refused} when the session has ended
 */
export async function requireSession(
  unit: Unit,
  { userId, sessionId, now }: { userId: string; sessionId: string; now: number },
): Promise<void> {
  const live = await unit.db
    .selectFrom('latchkey_sessions')
    .select('id')
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .where('refresh_expires_at', '>', now)
    .executeTakeFirst()
  if (!live) throw new Refused()
}

/** @throws {Refused} when there is no such user */
export async function requireUser(db: Kysely<Tables>, id: string): Promise<UserRecord> {
  const user = await readUser(db, 'id', id)
  if (!user) throw new Refused()
  return user
}

/** The change revokes no token, so no other process needs a change row. */
async function recordLinkEvent(unit: Unit, { audit, mail }: AccountStep): Promise<void> {
  await writeAudit(unit, audit)
  if (mail) await writeMail(unit, mail)
}
