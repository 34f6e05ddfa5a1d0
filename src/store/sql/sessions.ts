import type { Session } from '../../model/session.js'
import { lossesWithSignIn } from '../account-losses.js'
import { raisedStep } from '../factor-columns.js'
import { forgottenBefore, toSession, toSessionRow } from '../session-rows.js'
import type { EndSessions, OpenSessions, Sessions } from '../sessions.js'
import { surplus } from '../surplus.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import { parts } from './engine/parts.js'
import type { Steps, Unit } from './engine/steps.js'
import { writeMail } from './outbox.js'
import { prune } from './prune.js'
import { rotateSessions } from './rotate-sessions.js'
import { accepts, finishSecondStep } from './second-factors.js'
import { readState } from './session-state.js'
import { requireOne } from './user-passwords.js'
import { isEnabled } from './user-rows.js'

export function createSessions(steps: Steps): Sessions {
  return { ...openSessions(steps), ...readSessions(steps), ...rotateSessions(steps), ...endSessions(steps) }
}

function openSessions(steps: Steps): Pick<Sessions, 'open'> {
  return {
    open: (session, version, limit, audit) =>
      steps.transaction(async (unit) => {
        // Decides, and holds the user's row until the commit: a password change either comes before, and then the
        // version is another, or waits, and then finds this session among those it ends. It also makes sign-ins of one
        // user queue up, so that they count each other.
        const { secondStep } = limit
        const holding = unit.db
          .updateTable('latchkey_users')
          .set({ last_login_at: session.createdAt, ...(secondStep && raisedStep(secondStep.proof)) })
          .where('id', '=', session.userId)
          .where('version', '=', version)
          .where(isEnabled(session.createdAt))
        const deciding = secondStep ? holding.where(accepts(secondStep.proof)) : holding
        await deciding.executeTakeFirst().then(requireOne)
        if (secondStep) await finishSecondStep(unit, session.userId, secondStep, session.createdAt)

        await unit.db.insertInto('latchkey_sessions').values(toSessionRow(session, unit)).execute()
        await dropLosses(unit, session.userId, lossesWithSignIn)
        const ended = await endSurplus(unit, session, limit)
        await writeAudit(unit, audit)
        if (limit.mail) await writeMail(unit, limit.mail)
        await writeChanges(unit, 'session', ended, limit.until)
        return true
      }, false),
  }
}

function readSessions(steps: Steps): Pick<Sessions, 'find' | 'list'> {
  return {
    find: (id) => steps.step((db) => readState(steps.flavour, db, id)),

    list: (userId, now) =>
      steps.step(async (db) => {
        const rows = await db
          .selectFrom('latchkey_sessions')
          .selectAll()
          .where('user_id', '=', userId)
          .where('expires_at', '>', now)
          .where('refresh_expires_at', '>', now)
          .orderBy('created_at', 'desc')
          .orderBy('ordinal', 'desc')
          .execute()
        return rows.map(toSession)
      }),
  }
}

function endSessions(steps: Steps): Pick<Sessions, 'end' | 'endAll' | 'prune'> {
  return {
    prune: (before, count) =>
      prune(steps, 'latchkey_sessions', (db) =>
        db
          .selectFrom('latchkey_sessions')
          .select('id')
          .where('refresh_expires_at', '<', before)
          .orderBy('refresh_expires_at')
          .limit(count)
          .execute(),
      ),

    end: (id, userId, options) =>
      steps.transaction(async (unit) => {
        let deletion = unit.db.deleteFrom('latchkey_sessions').where('id', '=', id)
        if (userId !== null) deletion = deletion.where('user_id', '=', userId)
        const { numDeletedRows } = await deletion.executeTakeFirst()
        if (numDeletedRows === 0n) return false
        await recordSessionEnd(unit, [id], options)
        return true
      }, false),

    endAll: (userId, exceptId, options) =>
      steps.transaction(async (unit) => {
        // Changes nothing, but begins the transaction with a write and holds the user's row against new sign-ins.
        await unit.db
          .updateTable('latchkey_users')
          .set((eb) => ({ version: eb.ref('version') }))
          .where('id', '=', userId)
          .execute()
        const rows = await unit.db.selectFrom('latchkey_sessions').select('id').where('user_id', '=', userId).execute()
        const ids = rows.map(({ id }) => id).filter((id) => id !== exceptId)
        const ended = await deleteSessions(unit, ids)
        if (ended > 0) await recordSessionEnd(unit, ids, options)
        return ended
      }),
  }
}

/** Ends what is beyond the limit, the oldest first, and forgets what expired so long ago that no access token lives. */
async function endSurplus(
  unit: Unit,
  { id, userId, createdAt }: Session,
  { maxSessions, until }: OpenSessions,
): Promise<string[]> {
  await unit.db
    .deleteFrom('latchkey_sessions')
    .where('user_id', '=', userId)
    .where('refresh_expires_at', '<', forgottenBefore({ createdAt, until }))
    .execute()
  const others = await unit.db
    .selectFrom('latchkey_sessions')
    .select('id')
    .where('user_id', '=', userId)
    .where('id', '<>', id)
    .where('expires_at', '>', createdAt)
    .where('refresh_expires_at', '>', createdAt)
    .orderBy('created_at', 'desc')
    .orderBy('ordinal', 'desc')
    .execute()
  const ended = surplus(others, maxSessions).map((row) => row.id)
  await deleteSessions(unit, ended)
  return ended
}

async function deleteSessions(unit: Unit, ids: readonly string[]): Promise<number> {
  let deleted = 0
  for (const part of parts(ids)) {
    const { numDeletedRows } = await unit.db.deleteFrom('latchkey_sessions').where('id', 'in', part).executeTakeFirst()
    deleted += Number(numDeletedRows)
  }
  return deleted
}

async function recordSessionEnd(
  unit: Unit,
  ids: readonly string[],
  { until, audit, mail }: EndSessions,
): Promise<void> {
  await writeAudit(unit, audit)
  if (mail) await writeMail(unit, mail)
  await writeChanges(unit, 'session', ids, until)
}
