import { type ChainEnds, toEnds, toEndsRow } from '../audit/ends.js'
import type { Unit } from './engine/steps.js'

type MarkingUnit = Pick<Unit, 'db' | 'flavour' | 'seal'>

/** The transaction that has locked the ends is the only writer of the log, of all processes, until it ends. */
export async function lockEnds({ db, flavour, seal }: MarkingUnit): Promise<ChainEnds> {
  return toEnds(await flavour.lockAuditHead(db), seal)
}

export async function writeEnds({ db, seal }: MarkingUnit, ends: ChainEnds): Promise<void> {
  await db.updateTable('latchkey_audit_head').set(toEndsRow(ends, seal)).execute()
}
