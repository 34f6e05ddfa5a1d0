import type { Actor } from '../../model/actor.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { ReleaseCommit } from '../../model/release.js'
import type { Claim } from './claims.js'

/** One deployed bundle of a space. */
export interface ReleaseRecord {
  /** Counts up within the space. Never used again. */
  number: number
  /** Of `bundle.mjs`, hexadecimal. */
  sha256: string
  /** Of all its files. */
  bytes: number
  git: ReleaseCommit | null
  /** Whether files had changed since the commit; null: unknown. */
  dirty: boolean | null
  /** The version of the tool that made the archive. */
  tool: string
  author: Actor | null
  /** Unix seconds. */
  createdAt: number
  /** How its last start ended; null: not yet, or the host was killed. */
  outcome: 'healthy' | 'failed' | null
  /** Why it did not start, without secrets. */
  fault: string | null
}

/** `former`: it was in force once, or can be activated. */
export type ReleaseState = 'current' | 'starting' | 'failed' | 'former'

/** Every write asks for the claim; false and null: it is lost, and nothing changed. */
export interface Releases {
  /** Newest first. */
  list(spaceId: string): Promise<ReleaseRecord[]>
  find(spaceId: string, number: number): Promise<ReleaseRecord | null>

  /** A number that no release of the space has had. */
  reserve(claim: Claim): Promise<number | null>

  /** Lists a release whose files are there. It is not in force. */
  add(claim: Claim, release: ReleaseRecord): Promise<boolean>

  /** One statement switches to the release. */
  putInForce(claim: Claim, number: number, audit: AuditEvent): Promise<boolean>

  /** Records that a release did not start. The one in force stays. */
  fail(claim: Claim, failure: { number: number; fault: string }, audit: AuditEvent): Promise<boolean>

  /** Takes releases off the list. The one in force stays. */
  remove(claim: Claim, numbers: readonly number[]): Promise<boolean>

  /** Puts no release in force and takes all off the list. */
  undeploy(claim: Claim, audit: AuditEvent): Promise<boolean>
}

/** @param space the release in force, and whether a deploy or an activation is under way */
export function releaseState(
  { number, outcome }: Pick<ReleaseRecord, 'number' | 'outcome'>,
  space: { release: number | null; isStarting: boolean },
): ReleaseState {
  if (number === space.release) return 'current'
  if (outcome === null) return space.isStarting ? 'starting' : 'failed'
  return outcome === 'failed' ? 'failed' : 'former'
}
