import type { ImpersonatedSession } from '../../model/session.js'
import { overSince, toImpersonated, toSessionRow } from '../session-rows.js'
import type { Impersonation, Sessions } from '../sessions.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import type { Steps, Unit } from './engine/steps.js'
import { writeMail } from './outbox.js'
import { requireOne } from './user-passwords.js'
import { holdUser, isEnabled } from './user-rows.js'

export function impersonateSessions(steps: Steps): Pick<Sessions, 'impersonate' | 'impersonated'> {
  return {
    impersonate: (session, impersonation) =>
      steps.transaction(async (unit) => {
        // A sign-in locks the user's row in the same way.
        await holdUser(unit, session.userId)
          .where('version', '=', impersonation.version)
          .where(isEnabled(session.createdAt))
          .executeTakeFirst()
          .then(requireOne)
        await raiseActor(unit, session, impersonation)
        await expireActorSession(unit, session)
        await unit.db.insertInto('latchkey_sessions').values(toSessionRow(session, unit)).execute()
        await writeAudit(unit, impersonation.audit)
        if (impersonation.mail) await writeMail(unit, impersonation.mail)
        await writeChanges(unit, 'user', [session.actor.userId], impersonation.until, impersonation.actorVersion + 1)
        return true
      }, false),

    impersonated: (count) =>
      steps.step(async (db) => {
        const rows = await db
          .selectFrom('latchkey_sessions')
          .selectAll()
          .where('actor_user_id', 'is not', null)
          .orderBy('created_at')
          .orderBy('id')
          .limit(count)
          .execute()
        return rows.flatMap(toImpersonated)
      }),
  }
}

async function raiseActor(
  unit: Unit,
  { actor, createdAt }: ImpersonatedSession,
  { actorVersion }: Impersonation,
): Promise<void> {
  await unit.db
    .updateTable('latchkey_users')
    .set({ version: actorVersion + 1 })
    .where('id', '=', actor.userId)
    .where('version', '=', actorVersion)
    .where(isEnabled(createdAt))
    .executeTakeFirst()
    .then(requireOne)
}

async function expireActorSession(unit: Unit, { actor, createdAt }: ImpersonatedSession): Promise<void> {
  await unit.db
    .updateTable('latchkey_sessions')
    .set(overSince(createdAt))
    .where('id', '=', actor.sessionId)
    .where('user_id', '=', actor.userId)
    .where('actor_user_id', 'is', null)
    .where('expires_at', '>', createdAt)
    .where('refresh_expires_at', '>', createdAt)
    .executeTakeFirst()
    .then(requireOne)
}
