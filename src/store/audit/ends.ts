import type { AuditEvent } from '../../model/audit-event.js'
import type { AuditHeadTable, AuditTable } from '../rows.js'
import { type AuditSeal, type ChainPlace, markedText } from './chain.js'
import { checkMark, follows, placeOf, toAuditRow } from './rows.js'

/** One end of the chain, and whether its mark is valid. */
export interface ChainEnd extends ChainPlace {
  sound: boolean
}

export interface ChainEnds {
  /** The newest event. */
  head: ChainEnd
  /** The last one that retention removed. */
  floor: ChainEnd
}

/** Marks both ends with today's key, so that an old key can be removed later without losing its proof. */
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

/** An end without a valid mark stays unmarked. */
function mark(seal: AuditSeal, what: 'head' | 'floor', end: ChainEnd): string {
  return end.sound ? seal.sealAudit(markedText(what, end)) : ''
}

/** If the head's mark is invalid, the next event gets an impossible predecessor: no later hash can hide the fault. */
const nowhere = ''

/** The event's row, and the ends of the log after it. */
export function append(
  { head, floor }: ChainEnds,
  event: AuditEvent,
  seal: AuditSeal,
): { row: AuditTable; ends: ChainEnds } {
  const row = toAuditRow(event, head.sound ? head : { seq: head.seq, hash: nowhere }, seal)
  return { row, ends: { head: { seq: row.seq, hash: row.hash, sound: true }, floor } }
}

/** The oldest rows that retention removes, up to the first younger one, and the ends after their removal. */
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
 * The floor after that event was removed. A valid mark on the event proves its age, and everything before it is older, so
 * gaps there were due for removal. If the event's key is gone, the chain from a valid floor proves it instead.
 */
function raised(end: ChainEnd, row: AuditTable, seal: AuditSeal): ChainEnd {
  const mark = checkMark(row, seal)
  const sound = follows(row, end) && (mark === 'good' || (mark === 'unknown' && end.sound))
  return { ...placeOf(row), sound }
}
