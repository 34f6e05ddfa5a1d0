import { sha256 } from '../../lib/digest.js'

/** Keyed marks on the log. Their key is not in the store, so write access to the store is not enough to make them. */
export interface AuditSeal {
  /** Names its key: `<key id>.<mac>`. */
  sealAudit(text: string): string
  /** `unknown`: the key that made the mark is no longer configured. */
  checkAudit(text: string, mac: string): 'good' | 'bad' | 'unknown'
}

/** A place in the chain: the number of an event, and the hash that covers it and everything before it. */
export interface ChainPlace {
  seq: number
  hash: string
}

/** An event as it is stored: its columns in their fixed order, the number first. */
export type ChainedFields = readonly [seq: number, ...(string | number | null)[]]

/**
 * The hash of the event after `previous`. It is plain SHA-256, so that one keyed mark covers everything before it: old keys
 * need not be kept for as long as the log.
 */
export function chainHash(previous: string, fields: ChainedFields): string {
  return sha256(`${previous}\n${JSON.stringify(fields)}`)
}

/** The text that a mark covers: an event, the newest event (the head) or the last event that retention removed (the floor). */
export function markedText(what: 'event' | 'head' | 'floor', { seq, hash }: ChainPlace): string {
  return `${what} ${seq} ${hash}`
}
