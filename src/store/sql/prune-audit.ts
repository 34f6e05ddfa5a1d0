import type { AuditSeal } from '../audit-chain.js'
import { type ChainEnd, lockEnds, writeEnds } from './audit-ends.js'
import { type AuditRow, checkMark, follows, placeOf } from './audit-rows.js'
import type { Steps } from './steps.js'

/** Removes the oldest events up to the first that is younger, and moves the floor up to the last that went. */
export function pruneAudit(steps: Steps, beforeMs: number, count: number): Promise<number> {
  return steps.transaction(async (unit) => {
    const { head, floor } = await lockEnds(unit)
    const oldest = await unit.db.selectFrom('latchkey_audit').selectAll().orderBy('seq').limit(count).execute()
    const younger = oldest.findIndex((row) => Number(row.at_ms) >= beforeMs || Number(row.seq) >= head.seq)
    const due = younger === -1 ? oldest : oldest.slice(0, younger)
    const last = due.at(-1)
    if (last) await unit.db.deleteFrom('latchkey_audit').where('seq', '<=', last.seq).execute()
    await writeEnds(unit, { head, floor: due.reduce((end, row) => raised(end, row, unit.seal), floor) })
    return due.length
  })
}

/**
 * The floor after that event has gone. A good mark of its own proves how old it was, and everything before it is older:
 * whatever was missing there was due. Where its key is gone, the chain from a sound floor proves it.
 */
function raised(end: ChainEnd, row: AuditRow, seal: AuditSeal): ChainEnd {
  const mark = checkMark(row, seal)
  const sound = follows(row, end) && (mark === 'good' || (mark === 'unknown' && end.sound))
  return { ...placeOf(row), sound }
}
