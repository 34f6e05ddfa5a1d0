import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { AuditVerdict } from '../audit.js'
import type { ChainPlace } from '../audit-chain.js'
import { type ChainEnds, toEnds } from './audit-ends.js'
import { type AuditRow, checkMark, follows, placeOf } from './audit-rows.js'
import type { Tables } from './schema.js'
import type { Steps } from './steps.js'

const pageSize = 500

/** The log as it was at one moment. */
interface Snapshot extends ChainEnds {
  /** The highest number there is, whether or not the head knows of it. */
  newest: number
}

/** Retention that goes on meanwhile takes events away from under the reading: then it begins again above the new floor. */
export async function verifyAudit(steps: Steps): Promise<AuditVerdict> {
  let snapshot = await readSnapshot(steps)
  while (snapshot) {
    const verdict = await walk(steps, snapshot)
    const floor = snapshot.floor.seq
    if (verdict.ok) return verdict
    snapshot = await readSnapshot(steps)
    if (snapshot?.floor.seq === floor) return verdict
  }
  return { ok: false, brokenAt: null }
}

/** In one statement, so that its parts are of one moment; null when somebody has taken the head away. */
function readSnapshot({ step, seal }: Steps): Promise<Snapshot | null> {
  return step(async (db) => {
    const row = await db
      .selectFrom('latchkey_audit_head')
      .selectAll()
      .select((eb) =>
        eb
          .selectFrom('latchkey_audit')
          .select((of) => of.fn.max('seq').as('seq'))
          .as('newest'),
      )
      .executeTakeFirst()
    return row ? { ...toEnds(row, seal), newest: Number(row.newest ?? row.seq) } : null
  })
}

async function walk(steps: Steps, { head, floor, newest }: Snapshot): Promise<AuditVerdict> {
  let place: ChainPlace = floor
  let last: AuditRow | null = null
  for await (const row of rowsUpTo(steps, newest)) {
    const fits = (last !== null || floor.sound) && follows(row, place) && place.seq < head.seq
    if (!fits || checkMark(row, steps.seal) === 'bad') return { ok: false, brokenAt: row.id }
    last = row
    place = placeOf(row)
  }
  const ok = floor.sound && head.sound && place.seq === head.seq && place.hash === head.hash
  return { ok, brokenAt: ok ? null : (last?.id ?? null) }
}

async function* rowsUpTo({ step }: Steps, newest: number): AsyncGenerator<AuditRow> {
  for (let after: number | null = null; ; ) {
    const page: AuditRow[] = await step((db) => readPage(db, after, newest))
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = Number(last.seq)
    // SQLite answers within this turn of the event loop: everybody else has one now.
    await setImmediate()
  }
}

/** From the very first: what stands before the floor is nothing that retention left there. */
function readPage(db: Kysely<Tables>, after: number | null, newest: number): Promise<AuditRow[]> {
  let query = db.selectFrom('latchkey_audit').selectAll().where('seq', '<=', newest)
  if (after !== null) query = query.where('seq', '>', after)
  return query.orderBy('seq').limit(pageSize).execute()
}
