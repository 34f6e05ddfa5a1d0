import { type ImpersonatedSession, impersonatedAmr, type Session } from '../../model/session.js'
import { lossesWithSignIn } from '../account-losses.js'
import type { SessionsTable, UsersTable } from '../rows.js'
import { forgottenBefore, isLive, overSince, toImpersonated, toSession, toSessionRow } from '../session-rows.js'
import type { EndSessions, OpenSessions, Proof, SessionState, Sessions } from '../sessions.js'
import { surplus } from '../surplus.js'
import { toUser } from '../user-rows.js'
import { dropLosses, recordImpersonationEnds } from './account-losses.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import { changeMany } from './engine/change-many.js'
import type { Steps } from './engine/steps.js'
import { sessions, users } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { newestBefore } from './newest-before.js'
import { writeMail } from './outbox.js'
import { removeDue } from './prune.js'
import { spendProof, useUp } from './second-factors.js'
import { isEnabled, recordUserChange, requireAt } from './user-rows.js'

/** A query cannot ask for what is not null. */
const impersonated = JSON.stringify(impersonatedAmr)

const newestFirst = { created_at: -1, ordinal: -1 } as const

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
      steps.step(async (unit) => {
        const { secondStep } = limit
        const { userId, createdAt: now } = session
        const row = await requireAt(unit, userId, version, now)
        const proof = secondStep?.proof ?? limit.proof
        const proved = proof ? await spendProof(unit, row, proof, now) : row
        if (secondStep) await useUp(unit, { id: secondStep.challengeId, purpose: 'two_factor', userId, now })
        unit.put(users, { ...proved, last_login_at: now })
        const ended = await endSurplus(unit, session, limit)
        unit.put(sessions, toSessionRow(session, unit))
        await dropLosses(unit, userId, lossesWithSignIn)
        await writeAudit(unit, audit)
        if (limit.mail) writeMail(unit, limit.mail)
        writeChanges(unit, 'session', ended, limit.until)
        return true
      }, false),
  }
}

function replaceSessions(steps: Steps): Pick<Sessions, 'replace'> {
  return {
    replace: ({ fromSessionId, session, version, proof, until, audit }) =>
      steps.step(async (unit) => {
        const { userId, createdAt: now } = session
        const row = await requireAt(unit, userId, version, now)
        const from = await unit.get(sessions, fromSessionId)
        if (from?.user_id !== userId || from.actor_user_id !== null || !isLive(from, now)) return false
        unit.put(users, proof ? await spendProof(unit, row, proof, now) : row)
        unit.remove(sessions, [from])
        unit.put(sessions, toSessionRow(session, unit))
        await writeAudit(unit, audit)
        writeChanges(unit, 'session', [fromSessionId], until)
        return true
      }, false),
  }
}

function impersonateSessions(steps: Steps): Pick<Sessions, 'impersonate' | 'impersonated'> {
  return {
    impersonate: (session, { version, actorVersion, until, audit, mail }) =>
      steps.step(async (unit) => {
        const { actor, createdAt: now } = session
        await requireAt(unit, session.userId, version, now)
        const administrator = await requireAt(unit, actor.userId, actorVersion, now)
        const own = await unit.get(sessions, actor.sessionId)
        if (own?.user_id !== actor.userId || own.actor_user_id !== null || !isLive(own, now)) return false
        const raised = { ...administrator, version: actorVersion + 1 }
        unit.put(users, raised)
        unit.put(sessions, { ...own, ...overSince(now) })
        unit.put(sessions, toSessionRow(session, unit))
        await writeAudit(unit, audit)
        if (mail) writeMail(unit, mail)
        recordUserChange(unit, raised, until)
        return true
      }, false),

    impersonated: (count) =>
      steps.glance(async (view) => {
        const rows = await view.find(sessions, { amr: impersonated }, { sort: { created_at: 1 }, limit: count })
        return rows.flatMap(toImpersonated)
      }),
  }
}

function readSessions(steps: Steps): Pick<Sessions, 'find' | 'list' | 'recent' | 'count'> {
  return {
    find: (id) =>
      steps.read(async (view) => {
        const session = await view.get(sessions, id)
        const user = session && (await view.get(users, session.user_id))
        return user && toState(steps, session, user)
      }),

    list: (userId, now) =>
      steps.glance(async (view) => {
        const rows = await view.find(sessions, { user_id: userId }, { sort: newestFirst })
        return rows.filter((row) => isLive(row, now)).map(toSession)
      }),

    recent: ({ after, limit, now }) =>
      steps.read(async (view) => {
        const rows = await newestBefore(view, sessions, after, { limit, keep: (row) => isLive(row, now) })
        const ids = [...new Set(rows.map(({ user_id }) => user_id))]
        const owners = ids.length === 0 ? [] : await view.find(users, { key: { in: ids } })
        const emails = new Map(owners.map(({ id, email }) => [id, email]))
        return rows.flatMap((row) => {
          const email = emails.get(row.user_id)
          return email === undefined ? [] : [{ session: toSession(row), email }]
        })
      }),

    // The Datastore has no count.
    count: async () => null,
  }
}

function rotateSessions(steps: Steps): Pick<Sessions, 'rotate' | 'prove'> {
  return {
    rotate: ({ sessionId, userId, mode, counter, issuedAt, expiresAt, provenForMs, now }) =>
      steps.step(async (unit) => {
        const row = await unit.get(sessions, sessionId)
        if (row?.user_id !== userId || row.mode !== mode || row.counter !== counter || !isLive(row, now)) return null
        const proven = row.proven_at_ms !== null && row.proven_at_ms <= steps.nowMs() - provenForMs
        if (counter !== 0 && !proven) return null
        const user = await unit.get(users, row.user_id)
        if (!user || !isEnabled(user, now)) return null
        const rotated = {
          ...row,
          counter: counter + 1,
          proven_at_ms: null,
          refresh_issued_at: issuedAt,
          refresh_expires_at: Math.min(expiresAt, row.expires_at),
        }
        unit.put(sessions, rotated)
        return toState(steps, rotated, user)
      }),

    prove: (proofs) =>
      changeMany(steps, sessions, {
        items: proofs,
        keyOf: ({ sessionId }) => sessionId,
        change: (row, proof) => withProof(row, proof, steps.nowMs()),
      }),
  }
}

function endSessions(steps: Steps): Pick<Sessions, 'end' | 'endAll' | 'prune'> {
  return {
    prune: (before, count) =>
      removeDue(steps, sessions, (view) =>
        view.find(sessions, { refresh_expires_at: { lt: before } }, { sort: { refresh_expires_at: 1 }, limit: count }),
      ),

    end: (id, userId, options) =>
      steps.step(async (unit) => {
        const row = await unit.get(sessions, id)
        if (!row || (userId !== null && row.user_id !== userId)) return false
        unit.remove(sessions, [row])
        await recordSessionEnd(unit, [id], options, options.impersonated ? [options.impersonated] : [])
        return true
      }),

    endAll: (userId, exceptId, options) =>
      steps.step(async (unit) => {
        const rows = await unit.find(sessions, { user_id: userId })
        const ended = rows.filter(({ id }) => id !== exceptId)
        unit.remove(sessions, ended)
        const ids = ended.map(({ id }) => id)
        if (ids.length > 0) await recordSessionEnd(unit, ids, options, ended.flatMap(toImpersonated))
        return ids.length
      }),
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
  unit.remove(sessions, [...forgotten, ...ended])
  return ended.map(({ id }) => id)
}

function toState(steps: Steps, session: SessionsTable, user: UsersTable): SessionState {
  return { session: toSession(session), user: toUser(user), storeNowMs: steps.nowMs() }
}

async function recordSessionEnd(
  unit: Unit,
  ids: readonly string[],
  { until, audit, mail }: EndSessions,
  impersonated: readonly ImpersonatedSession[],
): Promise<void> {
  await writeAudit(unit, audit)
  await recordImpersonationEnds(unit, impersonated, audit)
  if (mail) writeMail(unit, mail)
  writeChanges(unit, 'session', ids, until)
}

/** With the proof, where it still says something, and the last sight, which only moves forward; null: neither is news. */
function withProof(row: SessionsTable, { counter, ageMs }: Proof, nowMs: number): SessionsTable | null {
  const provenAtMs = nowMs - Math.max(0, Math.floor(ageMs))
  const proves = row.counter === counter && row.proven_at_ms === null
  const seenAt = Math.max(row.last_seen_at, Math.floor(provenAtMs / 1000))
  if (!proves && seenAt === row.last_seen_at) return null
  return { ...row, ...(proves && { proven_at_ms: provenAtMs }), last_seen_at: seenAt }
}
