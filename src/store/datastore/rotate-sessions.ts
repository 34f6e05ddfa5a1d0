import type { SessionsTable } from '../rows.js'
import { isLive } from '../session-rows.js'
import type { Proof, Sessions } from '../sessions.js'
import { sessions, users } from '../tables.js'
import { isEnabled } from '../user-rows.js'
import { toState } from './account-reads.js'
import { changeMany } from './engine/change-many.js'
import type { Steps } from './engine/steps.js'

export function rotateSessions(steps: Steps): Pick<Sessions, 'rotate' | 'prove'> {
  return {
    rotate: ({ sessionId, userId, mode, counter, issuedAt, expiresAt, provenForMs, now }) =>
      steps.transaction(async (unit) => {
        const row = await unit.get(sessions, { id: sessionId })
        if (row?.user_id !== userId || row.mode !== mode || row.counter !== counter || !isLive(row, now)) return null
        const proven = row.proven_at_ms !== null && row.proven_at_ms <= steps.nowMs() - provenForMs
        if (counter !== 0 && !proven) return null
        const user = await unit.get(users, { id: row.user_id })
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

/** With the proof, where it still says something, and the last sight, which only moves forward; null: neither is news. */
function withProof(row: SessionsTable, { counter, ageMs }: Proof, nowMs: number): SessionsTable | null {
  const provenAtMs = nowMs - Math.max(0, Math.floor(ageMs))
  const proves = row.counter === counter && row.proven_at_ms === null
  const seenAt = Math.max(row.last_seen_at, Math.floor(provenAtMs / 1000))
  if (!proves && seenAt === row.last_seen_at) return null
  return { ...row, ...(proves && { proven_at_ms: provenAtMs }), last_seen_at: seenAt }
}
