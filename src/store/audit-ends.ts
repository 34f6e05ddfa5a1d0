import type { AuditEvent } from '../model/audit-event.js'
import { type AuditSeal, type ChainPlace, markedText } from './audit-chain.js'
import { checkMark, follows, placeOf, toAuditRow } from './audit-rows.js'
import type { AuditHeadTable, AuditTable } from './rows.js'

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

/** Under today's key: a key that is gone later has then vouched for nothing that a newer one does not. */
export function toEndsRow({ head, floor }: ChainEnds, seal: AuditSeal): Omit<AuditHeadTable, 'slot'> {
  return {
    seq: head.seq,
    hash: head.hash,
    mac: mark(seal, 'head', head),
    floor_seq: floor.seq,
    floor_hash: floor.hash,
    floor_mac: mark(seal, 'floor', floor),
  }
}

export function toEnds(row: AuditHeadTable, seal: AuditSeal): ChainEnds {
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

/** Upon a head that is not as its last writer left it nothing is built: no hash fits after this place. */
const nowhere = ''

/** The event's row, and the ends of the log once it stands there. */
export function append(
  { head, floor }: ChainEnds,
  event: AuditEvent,
  seal: AuditSeal,
): { row: AuditTable; ends: ChainEnds } {
  const row = toAuditRow(event, head.sound ? head : { seq: head.seq, hash: nowhere }, seal)
  return { row, ends: { head: { seq: row.seq, hash: row.hash, sound: true }, floor } }
}

/** Which of the oldest rows retention removes, up to the first that is younger, and the ends once they are gone. */
export function cutBefore(
  { head, floor }: ChainEnds,
  oldest: readonly AuditTable[],
  beforeMs: number,
  seal: AuditSeal,
): { due: readonly AuditTable[]; ends: ChainEnds } {
  const younger = oldest.findIndex((row) => Number(row.at_ms) >= beforeMs || Number(row.seq) >= head.seq)
  const due = younger === -1 ? oldest : oldest.slice(0, younger)
  return { due, ends: { head, floor: due.reduce((end, row) => raised(end, row, seal), floor) } }
}

/**
 * The floor after that event has gone. A good mark of its own proves how old it was, and everything before it is older:
 * whatever was missing there was due. Where its key is gone, the chain from a sound floor proves it.
 */
function raised(end: ChainEnd, row: AuditTable, seal: AuditSeal): ChainEnd {
  const mark = checkMark(row, seal)
  const sound = follows(row, end) && (mark === 'good' || (mark === 'unknown' && end.sound))
  return { ...placeOf(row), sound }
}
