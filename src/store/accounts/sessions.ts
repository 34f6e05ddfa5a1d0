import type { ImpersonatedSession, Session } from '../../model/session.js'
import { consumeToken } from '../one-time-tokens.js'
import { writeMail } from '../outbox.js'
import { forgottenBefore, isLive, overSince, toImpersonated, toSession, toSessionRow } from '../session-rows.js'
import type { EndSessions, OpenSessions, Sessions } from '../sessions.js'
import { surplus } from '../surplus.js'
import { sessions, users } from '../tables.js'
import type { Steps, Unit } from '../unit.js'
import { dropLosses, impersonated, lossesWithSignIn, recordImpersonationEnds } from './losses.js'
import { spendProof } from './second-factors.js'
import { requireAt } from './steps.js'

/** All of them but rotation, and the reads that each store has in a way of its own. */
export type SessionSteps = Omit<Sessions, 'find' | 'recent' | 'count' | 'rotate' | 'prove'>

const newestFirst = { created_at: -1, ordinal: -1 } as const

export function createSessions(steps: Steps): SessionSteps {
  return {
    ...openSessions(steps),

    list: (userId, now) =>
      steps.glance(async (view) => {
        const live = { user_id: userId, expires_at: { gt: now }, refresh_expires_at: { gt: now } }
        return (await view.find(sessions, live, { sort: newestFirst })).map(toSession)
      }),

    impersonated: (limit) =>
      steps.glance(async (view) => {
        const rows = await view.find(sessions, impersonated, { sort: { created_at: 1, id: 1 }, limit })
        return rows.flatMap(toImpersonated)
      }),

    ...endSessions(steps),
  }
}

function openSessions(steps: Steps): Pick<Sessions, 'open' | 'replace' | 'impersonate'> {
  return {
    open: (session, version, limit, audit) =>
      steps.transaction(async (unit) => {
        const { secondStep } = limit
        const { userId, createdAt: now } = session
        // From here on, changes of the password and other sign-ins of the user wait. So each counts the sessions of the others.
        const row = await requireAt(unit, userId, version, now)
        if (secondStep) await consumeToken(unit, secondStep.challengeId, { purpose: 'two_factor', userId, now })
        const proof = secondStep?.proof ?? limit.proof
        const proved = proof ? await spendProof(unit, row, proof, now) : row
        await unit.put(users, { ...proved, last_login_at: now })
        const ended = await endSurplus(unit, session, limit)
        await unit.put(sessions, toSessionRow(session, unit))
        await dropLosses(unit, userId, lossesWithSignIn)
        unit.audit(audit)
        if (limit.mail) await writeMail(unit, limit.mail)
        unit.change('session', ended, limit.until)
        return true
      }, false),

    replace: ({ fromSessionId, session, version, proof, until, audit }) =>
      steps.transaction(async (unit) => {
        const { userId, createdAt: now } = session
        const row = await requireAt(unit, userId, version, now)
        const from = await unit.get(sessions, { id: fromSessionId })
        if (from?.user_id !== userId || from.actor_user_id !== null || !isLive(from, now)) return false
        if (proof) await unit.put(users, await spendProof(unit, row, proof, now))
        await unit.remove(sessions, [from])
        await unit.put(sessions, toSessionRow(session, unit))
        unit.audit(audit)
        unit.change('session', [fromSessionId], until)
        return true
      }, false),

    impersonate: (session, { version, actorVersion, until, audit, mail }) =>
      steps.transaction(async (unit) => {
        const { actor, createdAt: now } = session
        await requireAt(unit, session.userId, version, now)
        const administrator = await requireAt(unit, actor.userId, actorVersion, now)
        const own = await unit.get(sessions, { id: actor.sessionId })
        if (own?.user_id !== actor.userId || own.actor_user_id !== null || !isLive(own, now)) return false
        await unit.put(users, { ...administrator, version: actorVersion + 1 })
        await unit.put(sessions, { ...own, ...overSince(now) })
        await unit.put(sessions, toSessionRow(session, unit))
        unit.audit(audit)
        if (mail) await writeMail(unit, mail)
        unit.change('user', [actor.userId], until, actorVersion + 1)
        return true
      }, false),
  }
}

function endSessions(steps: Steps): Pick<Sessions, 'end' | 'endAll' | 'prune'> {
  return {
    end: (id, userId, options) =>
      steps.transaction(async (unit) => {
        const row = await unit.get(sessions, { id })
        if (!row || (userId !== null && row.user_id !== userId)) return false
        await unit.remove(sessions, [row])
        await recordSessionEnd(unit, [id], options, options.impersonated ? [options.impersonated] : [])
        return true
      }, false),

    endAll: (userId, exceptId, options) =>
      steps.transaction(async (unit) => {
        // New sign-ins of the user wait.
        await unit.get(users, { id: userId })
        const rows = await unit.find(sessions, { user_id: userId }, { lock: true })
        const ended = rows.filter(({ id }) => id !== exceptId)
        await unit.remove(sessions, ended)
        const ids = ended.map(({ id }) => id)
        if (ids.length > 0) await recordSessionEnd(unit, ids, options, ended.flatMap(toImpersonated))
        return ids.length
      }),

    prune: (before, limit) =>
      steps.removeDue(sessions, { refresh_expires_at: { lt: before } }, { sort: { refresh_expires_at: 1 }, limit }),
  }
}

/** Ends what is beyond the limit, the oldest first, and forgets what expired so long ago that no access token lives. */
async function endSurplus(
  unit: Unit,
  { userId, createdAt }: Session,
  { maxSessions, until }: OpenSessions,
): Promise<string[]> {
  const all = await unit.find(sessions, { user_id: userId }, { sort: newestFirst })
  const rows = all.filter(({ actor_user_id }) => actor_user_id === null)
  const forgotten = rows.filter((row) => row.refresh_expires_at < forgottenBefore({ createdAt, until }))
  const live = rows.filter((row) => isLive(row, createdAt))
  const ended = surplus(live, maxSessions)
  await unit.remove(sessions, [...forgotten, ...ended])
  return ended.map(({ id }) => id)
}

async function recordSessionEnd(
  unit: Unit,
  ids: readonly string[],
  { until, audit, mail }: EndSessions,
  impersonated: readonly ImpersonatedSession[],
): Promise<void> {
  unit.audit(audit)
  await recordImpersonationEnds(unit, impersonated, audit)
  if (mail) await writeMail(unit, mail)
  unit.change('session', ids, until)
}
