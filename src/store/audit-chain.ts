import { sha256 } from '../lib/digest.js'

/** Keyed marks on the log, by a key that is not in the store: whoever can write the store cannot make them. */
export interface AuditSeal {
  /** Names its key: `<key id>.<mac>`. */
  sealAudit(text: string): string
  /** `unknown`: its key is gone. */
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
 * The hash of an event that follows upon `previous`. Plain SHA-256, so that one keyed mark vouches for all that is before
 * it: no key has to be kept for as long as the log.
 */
export function chainHash(previous: string, fields: ChainedFields): string {
  return sha256(`${previous}\n${JSON.stringify(fields)}`)
}

/** What a mark on one event, on the newest one (the head) or on the last one that retention removed (the floor) covers. */
export function markedText(what: 'event' | 'head' | 'floor', { seq, hash }: ChainPlace): string {
  return `${what} ${seq} ${hash}`
}
