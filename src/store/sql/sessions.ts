import type { ImpersonatedSession, Session } from '../../model/session.js'
import { lossesWithSignIn } from '../account-losses.js'
import { raisedStep } from '../factor-columns.js'
import { forgottenBefore, toImpersonated, toSession, toSessionRow } from '../session-rows.js'
import type { EndSessions, OpenSessions, Sessions } from '../sessions.js'
import { surplus } from '../surplus.js'
import { dropLosses, recordImpersonationEnds } from './account-losses.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import { parts } from './engine/parts.js'
import type { Steps, Unit } from './engine/steps.js'
import { impersonateSessions } from './impersonate-sessions.js'
import { writeMail } from './outbox.js'
import { prune } from './prune.js'
import { rotateSessions } from './rotate-sessions.js'
import { accepts, spendRow, useUpChallenge } from './second-factors.js'
import { readState } from './session-state.js'
import { requireDeleted, requireOne } from './user-passwords.js'
import { holdUser, isEnabled } from './user-rows.js'

export function createSessions(steps: Steps): Sessions {
  return {
    ...openSessions(steps),
    ...replaceSessions(steps),
    ...impersonateSessions(steps),
    ...readSessions(steps),
    ...rotateSessions(steps),
    ...endSessions(steps),
  }
}

function openSessions(steps: Steps): Pick<Sessions, 'open'> {
  return {
    open: (session, version, limit, audit) =>
      steps.transaction(async (unit) => {
        // This write decides, and locks the user's row until the commit. A password change that came first has raised the
        // version. A later one waits and then ends this session too. Sign-ins of one user also queue up here, so that each
        // counts the sessions of the others.
        const { secondStep } = limit
        const proof = secondStep?.proof ?? limit.proof
        const holding = unit.db
          .updateTable('latchkey_users')
          .set({ last_login_at: session.createdAt, ...(proof && raisedStep(proof)) })
          .where('id', '=', session.userId)
          .where('version', '=', version)
          .where(isEnabled(session.createdAt))
        const deciding = proof ? holding.where(accepts(proof)) : holding
        await deciding.executeTakeFirst().then(requireOne)
        if (secondStep) await useUpChallenge(unit, session.userId, secondStep, session.createdAt)
        if (proof) await spendRow(unit, session.userId, proof, session.createdAt)

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

function replaceSessions(steps: Steps): Pick<Sessions, 'replace'> {
  return {
    replace: ({ fromSessionId, session, version, proof, until, audit }) =>
      steps.transaction(async (unit) => {
        const { userId, createdAt: now } = session
        const holding = unit.db
          .updateTable('latchkey_users')
          .set({ version, ...(proof && raisedStep(proof)) })
          .where('id', '=', userId)
          .where('version', '=', version)
          .where(isEnabled(now))
        const deciding = proof ? holding.where(accepts(proof)) : holding
        await deciding.executeTakeFirst().then(requireOne)
        if (proof) await spendRow(unit, userId, proof, now)
        await unit.db
          .deleteFrom('latchkey_sessions')
          .where('id', '=', fromSessionId)
          .where('user_id', '=', userId)
          .where('expires_at', '>', now)
          .where('refresh_expires_at', '>', now)
          .where('actor_user_id', 'is', null)
          .executeTakeFirst()
          .then(requireDeleted)
        await unit.db.insertInto('latchkey_sessions').values(toSessionRow(session, unit)).execute()
        await writeAudit(unit, audit)
        await writeChanges(unit, 'session', [fromSessionId], until)
        return true
      }, false),
  }
}

function readSessions(steps: Steps): Pick<Sessions, 'find' | 'list' | 'recent' | 'count'> {
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

    recent: ({ after, limit, now }) =>
      steps.step(async (db) => {
        const live = db
          .selectFrom('latchkey_sessions')
          .innerJoin('latchkey_users', 'latchkey_users.id', 'latchkey_sessions.user_id')
          .selectAll('latchkey_sessions')
          .select('latchkey_users.email')
          .where('latchkey_sessions.expires_at', '>', now)
          .where('latchkey_sessions.refresh_expires_at', '>', now)
        const columns = ['latchkey_sessions.created_at', 'latchkey_sessions.id'] as const
        const rows = after ? live.where(steps.flavour.before(columns, [after.createdAt, after.id])) : live
        const found = await rows.orderBy(columns[0], 'desc').orderBy(columns[1], 'desc').limit(limit).execute()
        return found.map((row) => ({ session: toSession(row), email: row.email }))
      }),

    count: (now) =>
      steps.step(async (db) => {
        const live = db
          .selectFrom('latchkey_sessions')
          .select((eb) => eb.fn.countAll().as('count'))
          .where('refresh_expires_at', '>', now)
        return Number((await live.executeTakeFirstOrThrow()).count)
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
        await recordSessionEnd(unit, [id], options, options.impersonated ? [options.impersonated] : [])
        return true
      }, false),

    endAll: (userId, exceptId, options) =>
      steps.transaction(async (unit) => {
        // New sign-ins of the user wait.
        await holdUser(unit, userId).execute()
        const rows = await unit.db.selectFrom('latchkey_sessions').selectAll().where('user_id', '=', userId).execute()
        const others = rows.filter(({ id }) => id !== exceptId)
        const ids = others.map(({ id }) => id)
        const ended = await deleteSessions(unit, ids)
        if (ended > 0) await recordSessionEnd(unit, ids, options, others.flatMap(toImpersonated))
        return ended
      }),
  }
}

/** Ends the oldest sessions beyond the limit. Deletes those that expired so long ago that no access token of theirs is valid. */
async function endSurplus(
  unit: Unit,
  { id, userId, createdAt }: Session,
  { maxSessions, until }: OpenSessions,
): Promise<string[]> {
  await unit.db
    .deleteFrom('latchkey_sessions')
    .where('user_id', '=', userId)
    .where('refresh_expires_at', '<', forgottenBefore({ createdAt, until }))
    .where('actor_user_id', 'is', null)
    .execute()
  const others = await unit.db
    .selectFrom('latchkey_sessions')
    .select('id')
    .where('user_id', '=', userId)
    .where('id', '<>', id)
    .where('expires_at', '>', createdAt)
    .where('refresh_expires_at', '>', createdAt)
    .where('actor_user_id', 'is', null)
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
  impersonated: readonly ImpersonatedSession[],
): Promise<void> {
  await writeAudit(unit, audit)
  await recordImpersonationEnds(unit, impersonated, audit)
  if (mail) await writeMail(unit, mail)
  await writeChanges(unit, 'session', ids, until)
}
