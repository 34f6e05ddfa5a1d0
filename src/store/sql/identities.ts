import type { ExpressionBuilder, Kysely } from 'kysely'
import type { UserRecord } from '../../model/user.js'
import { mayRemove } from '../../model/ways-in.js'
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
import { isEnabled, readUser } from './user-rows.js'

/** The user's row is written first in each, so that the links, passwords and sessions of one user queue up. */
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

    linkByProof: (identity, email, step) =>
      unlessTaken(() =>
        steps.transaction(async (unit) => {
          const { userId: id, linkedAt: now } = identity
          if (!(await wipeUnproven(unit, id))) throw new Refused()
          await unit.db
            .updateTable('latchkey_users')
            .set((eb) => ({ version: eb('version', '+', 1) }))
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

  // Asked before the insert: PostgreSQL goes on with no transaction in which one has failed.
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
    unlink: ({ userId, provider, fromSessionId: sessionId }, step) =>
      steps.transaction<UserRecord | 'last' | null>(async (unit) => {
        await holdUser(unit, userId).executeTakeFirst().then(requireOne)
        await requireSession(unit, { userId, sessionId, now: Math.floor(step.audit.atMs / 1000) })
        const user = await requireUser(unit.db, userId)
        if (!user.identities.some((identity) => identity.provider === provider)) throw new Refused()
        if (!mayRemove(user, { kind: 'identity', provider })) return 'last'
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

/** Changes nothing, but begins the transaction with a write, and holds the user's row until the commit. */
function holdUser(unit: Unit, id: string) {
  return unit.db
    .updateTable('latchkey_users')
    .set((eb) => ({ version: eb.ref('version') }))
    .where('id', '=', id)
}

function hasVerified(email: string) {
  return (eb: ExpressionBuilder<Tables, 'latchkey_users'>) =>
    eb.and([eb('email_canonical', '=', email), eb('email_verified', '=', 1)])
}

/**
 * Asked once the user's row is held, and by itself: as part of the statement that waits for the row, it would see the
 * session that whoever held the row before has ended.
 *
 * @throws {Refused} when it has ended
 */
async function requireSession(
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

async function requireUser(db: Kysely<Tables>, id: string): Promise<UserRecord> {
  const user = await readUser(db, 'id', id)
  if (!user) throw new Refused()
  return user
}

/** No token dies by it, so no process has to hear of it. */
async function recordLinkEvent(unit: Unit, { audit, mail }: AccountStep): Promise<void> {
  await writeAudit(unit, audit)
  if (mail) await writeMail(unit, mail)
}
