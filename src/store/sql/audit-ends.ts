import type { Selectable } from 'kysely'
import { type AuditSeal, type ChainPlace, markedText } from '../audit-chain.js'
import type { AuditHeadTable } from './schema.js'
import type { Unit } from './steps.js'

/** One end of the chain, and whether its mark is right. */
export interface ChainEnd extends ChainPlace {
  sound: boolean
}

export interface ChainEnds {
  /** The newest event. */
  head: ChainEnd
  /** The last one that retention removed. */
  floor: ChainEnd
}

type MarkingUnit = Pick<Unit, 'db' | 'flavour' | 'seal'>

/** Whoever has locked the ends is the only writer of the log, of all processes, until the transaction ends. */
export async function lockEnds({ db, flavour, seal }: MarkingUnit): Promise<ChainEnds> {
  return toEnds(await flavour.lockAuditHead(db), seal)
}

/** Under today's key: a key that is gone later has then vouched for nothing that a newer one does not. */
export async function writeEnds({ db, seal }: MarkingUnit, { head, floor }: ChainEnds): Promise<void> {
  await db
    .updateTable('latchkey_audit_head')
    .set({
      seq: head.seq,
      hash: head.hash,
      mac: mark(seal, 'head', head),
      floor_seq: floor.seq,
      floor_hash: floor.hash,
      floor_mac: mark(seal, 'floor', floor),
    })
    .execute()
}

export function toEnds(row: Selectable<AuditHeadTable>, seal: AuditSeal): ChainEnds {
  const head = { seq: Number(row.seq), hash: row.hash }
  const floor = { seq: Number(row.floor_seq), hash: row.floor_hash }
  return {
    head: { ...head, sound: seal.checkAudit(markedText('head', head), row.mac) === 'good' },
    floor: { ...floor, sound: seal.checkAudit(markedText('floor', floor), row.floor_mac) === 'good' },
  }
}

/** What nobody could vouch for before is not vouched for now. */
function mark(seal: AuditSeal, what: 'head' | 'floor', end: ChainEnd): string {
  return end.sound ? seal.sealAudit(markedText(what, end)) : ''
}
