import { cutBefore } from '../audit/ends.js'
import { lockEnds, writeEnds } from './audit-ends.js'
import type { Steps } from './engine/steps.js'

/** Deletes the oldest events up to the first younger one, and raises the floor to the last deleted one. */
export function pruneAudit(steps: Steps, beforeMs: number, count: number): Promise<number> {
  return steps.transaction(async (unit) => {
    const locked = await lockEnds(unit)
    const oldest = await unit.db.selectFrom('latchkey_audit').selectAll().orderBy('seq').limit(count).execute()
    const { due, ends } = cutBefore(locked, oldest, beforeMs, unit.seal)
    const last = due.at(-1)
    if (last) await unit.db.deleteFrom('latchkey_audit').where('seq', '<=', last.seq).execute()
    await writeEnds(unit, ends)
    return due.length
  })
}
