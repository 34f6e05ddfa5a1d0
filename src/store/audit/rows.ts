import { actorId, parseActor } from '../../model/actor.js'
import type { AuditEvent } from '../../model/audit-event.js'
import { detailIn, readColumn } from '../json-columns.js'
import type { AuditTable } from '../rows.js'
import { type AuditSeal, type ChainPlace, chainHash, markedText } from './chain.js'

/** The event's row directly after that place, with the next number. */
export function toAuditRow(event: AuditEvent, previous: ChainPlace, seal: AuditSeal): AuditTable {
  const row = {
    id: event.id,
    seq: previous.seq + 1,
    at_ms: event.atMs,
    event: event.event,
    outcome: event.outcome,
    user_id: event.userId,
    session_id: event.sessionId,
    ip: event.ip,
    user_agent: event.userAgent && wellFormed(event.userAgent),
    detail: JSON.stringify(event.detail),
    actor: actorText(event.actor),
    actor_id: actorId(event.actor),
  }
  const hash = hashAfter(previous, row)
  return { ...row, hash, mac: seal.sealAudit(markedText('event', { seq: row.seq, hash })) }
}

export function toEvent(row: AuditTable): AuditEvent {
  return {
    id: row.id,
    atMs: Number(row.at_ms),
    event: row.event,
    outcome: row.outcome,
    actor: readActor(row),
    userId: row.user_id,
    sessionId: row.session_id,
    ip: row.ip,
    userAgent: row.user_agent,
    detail: readColumn(row, 'detail', detailIn),
  }
}

export function placeOf(row: AuditTable): ChainPlace {
  return { seq: Number(row.seq), hash: row.hash }
}

/** Whether the row comes directly after that place and is unchanged. */
export function follows(row: AuditTable, previous: ChainPlace): boolean {
  const isNext = Number(row.seq) === previous.seq + 1 && row.hash === hashAfter(previous, row)
  // The hash covers the actor, not the copy of its id, so that copy is compared separately.
  return isNext && row.actor_id === actorId(readActor(row))
}

export function checkMark(row: AuditTable, seal: AuditSeal): ReturnType<AuditSeal['checkAudit']> {
  return seal.checkAudit(markedText('event', placeOf(row)), row.mac)
}

/** The column by which two events are compared to be of the same actor, and its value. */
export function actorColumn({ actor }: Pick<AuditEvent, 'actor'>): {
  column: 'actor_id' | 'actor'
  value: string | null
} {
  const id = actorId(actor)
  if (id !== null) return { column: 'actor_id', value: id }
  return { column: 'actor', value: actorText(actor) }
}

function actorText(actor: AuditEvent['actor']): string | null {
  return actor && JSON.stringify(actor)
}

/** Databases return half a surrogate pair as different characters, so it is replaced. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

/** Null also for a text that is no actor. Only tampering leaves such a text, and `verify` finds it. */
function readActor({ actor }: Pick<AuditTable, 'actor'>): AuditEvent['actor'] {
  return actor === null ? null : parseActor(actor)
}

/**
 * `detail` and `actor` are hashed as the stored texts, so that even a changed blank shows. A row without an actor is hashed
 * as in databases from before migration 0002, so that their chains stay valid.
 */
function hashAfter({ hash }: ChainPlace, row: Omit<AuditTable, 'hash' | 'mac'>): string {
  const { id, event, outcome, user_id, session_id, ip, user_agent, detail, actor } = row
  const [seq, atMs] = [Number(row.seq), Number(row.at_ms)]
  const fields = [id, atMs, event, outcome, user_id, session_id, ip, user_agent, detail]
  return chainHash(hash, [seq, ...fields, ...(actor === null ? [] : [actor])])
}
