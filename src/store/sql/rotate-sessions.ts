import type { Kysely } from 'kysely'
import { gathered } from '../../lib/gather.js'
import { unavailable } from '../refused.js'
import type { Proof, Rotation, SessionState, Sessions } from '../sessions.js'
import { readState } from './account-reads.js'
import { type Batches, mostTogether } from './engine/batches.js'
import type { Flavour } from './engine/flavour.js'
import { parts } from './engine/parts.js'
import { untilHeldUp, wasHeldUp } from './engine/retry.js'
import type { Tables } from './engine/schema.js'
import { type StateRow, toState } from './engine/session-rows.js'
import type { Steps, Unit } from './engine/steps.js'
import { isEnabled } from './user-conditions.js'

export function rotateSessions(steps: Steps): Pick<Sessions, 'rotate' | 'prove'> {
  const { batches } = steps.flavour
  return batches ? together(steps, batches) : oneByOne(steps)
}

function oneByOne(steps: Steps): Pick<Sessions, 'rotate' | 'prove'> {
  const { flavour } = steps
  return {
    rotate: (rotation) =>
      steps.transaction(async ({ db }) =>
        (await raiseIf(flavour, db, rotation)) ? readState(flavour, db, rotation.sessionId) : null,
      ),

    async prove(proofs) {
      // The same order everywhere, so that two batches cannot deadlock.
      const ordered = [...proofs].sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1))
      for (const part of parts(ordered, provenAtOnce)) {
        await steps.transaction(async (unit) => {
          for (const proof of part) await writeProof(unit, proof)
        })
      }
    },
  }
}

/** A row stays locked for the remaining round trips of its transaction, and a refresh of that session waits for them. */
const provenAtOnce = 20

function together(steps: Steps, batches: Batches): Pick<Sessions, 'rotate' | 'prove'> {
  const raiseOne = async (rotation: Rotation) => (await raiseAll(steps, batches, [rotation]))[0] ?? null
  const raise = steps.gathers
    ? gathered<Rotation, StateRow | null>({
        group: () => '',
        key: ({ sessionId }) => sessionId,
        run: (rotations) => raiseAll(steps, batches, rotations),
        divides: wasHeldUp,
        most: mostTogether,
      })
    : raiseOne
  return {
    async rotate(rotation) {
      const row = await raise(rotation)
      return row && soundState(row)
    },

    async prove(proofs) {
      if (proofs.length > 0) await steps.step((db) => batches.prove(db, proofs))
    },
  }
}

/** In the order of the rotations: the session's row if its counter rose, otherwise null. */
async function raiseAll(
  steps: Steps,
  batches: Batches,
  rotations: readonly Rotation[],
): Promise<readonly (StateRow | null)[]> {
  const rows = await steps.step((db) => untilHeldUp(rotations.length, batches.rotate(db, rotations)))
  const risen = new Map(rows.map((row) => [row.id, row]))
  return rotations.map(({ sessionId }) => risen.get(sessionId) ?? null)
}

/** An unreadable row fails its own call, not the other calls that share the statement. */
function soundState(row: StateRow): SessionState {
  try {
    return toState(row)
  } catch (cause) {
    throw unavailable(cause)
  }
}

/** Whether the counter has risen. */
async function raiseIf(
  flavour: Flavour,
  db: Kysely<Tables>,
  { sessionId, userId, mode, counter, issuedAt, expiresAt, provenForMs, now }: Rotation,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('latchkey_sessions')
    .set((eb) => ({
      counter: counter + 1,
      proven_at_ms: null,
      refresh_issued_at: issuedAt,
      refresh_expires_at: eb
        .case()
        .when('expires_at', '<', expiresAt)
        .then(eb.ref('expires_at'))
        .else(eb.val(expiresAt))
        .end(),
    }))
    .where('latchkey_sessions.id', '=', sessionId)
    .where('user_id', '=', userId)
    .where('mode', '=', mode)
    .where('counter', '=', counter)
    .where('expires_at', '>', now)
    .where('refresh_expires_at', '>', now)
    .where((eb) => eb.or([eb('counter', '=', 0), eb('proven_at_ms', '<=', flavour.storeNowMs(-provenForMs))]))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('latchkey_users')
          .select('latchkey_users.id')
          .whereRef('latchkey_users.id', '=', 'latchkey_sessions.user_id')
          .where(isEnabled(now)),
      ),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** One statement for both: the proof, if it still matters, and the time last seen, which only moves forward. */
async function writeProof(unit: Unit, { sessionId, counter, ageMs }: Proof): Promise<void> {
  const age = Math.max(0, Math.floor(ageMs))
  const provenAtMs = unit.flavour.storeNowMs(-age)
  const seenAt = unit.flavour.storeNowSeconds(-age)
  await unit.db
    .updateTable('latchkey_sessions')
    .set((eb) => ({
      proven_at_ms: eb
        .case()
        .when(eb.and([eb('counter', '=', counter), eb('proven_at_ms', 'is', null)]))
        .then(provenAtMs)
        .else(eb.ref('proven_at_ms'))
        .end(),
      last_seen_at: eb.case().when('last_seen_at', '<', seenAt).then(seenAt).else(eb.ref('last_seen_at')).end(),
    }))
    .where('id', '=', sessionId)
    .execute()
}
