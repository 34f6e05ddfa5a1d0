import { actorId, parseActor } from '../model/actor.js'
import type { AuditEvent } from '../model/audit-event.js'
import { type AuditSeal, type ChainPlace, chainHash, markedText } from './audit-chain.js'
import { detailIn, readColumn } from './json-columns.js'
import type { AuditTable } from './rows.js'

/** The event's row as it follows upon that place; its number is the next one. */
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
    actor: event.actor && JSON.stringify(event.actor),
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

/** Whether the row is the next one after that place, and as it was written there. */
export function follows(row: AuditTable, previous: ChainPlace): boolean {
  const isNext = Number(row.seq) === previous.seq + 1 && row.hash === hashAfter(previous, row)
  // The hash covers the actor and not the copy of its id.
  return isNext && row.actor_id === actorId(readActor(row))
}

export function checkMark(row: AuditTable, seal: AuditSeal): ReturnType<AuditSeal['checkAudit']> {
  return seal.checkAudit(markedText('event', placeOf(row)), row.mac)
}

/** Half a surrogate pair would come back from a database as something else, and differently from each. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

/** Null as well for a text that is no actor: only tampering leaves one, and `verify` finds it. */
function readActor({ actor }: Pick<AuditTable, 'actor'>): AuditEvent['actor'] {
  return actor === null ? null : parseActor(actor)
}

/**
 * `detail` and `actor` count as the texts that stand there: not a blank of them can be changed. A row without an actor is
 * hashed as in databases made before migration 0002, so that their chains stay good.
 */
function hashAfter({ hash }: ChainPlace, row: Omit<AuditTable, 'hash' | 'mac'>): string {
  const { id, event, outcome, user_id, session_id, ip, user_agent, detail, actor } = row
  const [seq, atMs] = [Number(row.seq), Number(row.at_ms)]
  const fields = [id, atMs, event, outcome, user_id, session_id, ip, user_agent, detail]
  return chainHash(hash, [seq, ...fields, ...(actor === null ? [] : [actor])])
}
