import type { Actor } from '../../model/actor.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { ReleaseCommit } from '../../model/release.js'
import type { SealedVariable, SpaceKey } from '../ports.js'

/** A space: database, code, tokens, key set, allow-list and environment of one application. */
export interface SpaceRecord {
  /** 16 random bytes, base64url. Never used again. */
  id: string
  /** Free again after the space is removed. */
  name: string
  /** Unix seconds. */
  createdAt: number
  /** The number of the release in force; null: nothing is deployed. */
  release: number | null
  /** Which file holds the data, from 1 on. */
  generation: number
  /** What holds its claim; null: nothing. */
  busyWith: ClaimKind | null
  /** By whom; null also where that is unknown. */
  busyBy: Actor | null
  /** Since when, Unix milliseconds. */
  busySinceMs: number | null
}

interface NewSpace extends Pick<SpaceRecord, 'id' | 'name' | 'createdAt'> {
  /**
   * Makes the data key of its environment, wrapped. Called inside the step: a rotation comes before it, and has added its key
   * to the file by then, or after it, and wraps this one again.
   */
  dataKey(): string
}

export interface Spaces {
  /** False: another space has the name. */
  create(space: NewSpace, audit: AuditEvent): Promise<boolean>

  find(id: string): Promise<SpaceRecord | null>
  findByName(name: string): Promise<SpaceRecord | null>

  /** By name; `after` names the last of the previous page. */
  list(page: { after: string | null; limit: number }): Promise<SpaceRecord[]>

  /**
   * Removes the space with its API tokens, access settings, releases and environment. Change rows report the tokens and
   * settings. Its id is kept until `forget`, because its files are still there. False: the claim is lost.
   *
   * @param until until when (Unix seconds) another process may still remember a token
   */
  remove(claim: Claim, step: { until: number; audit: AuditEvent }): Promise<boolean>

  /** Ids of removed spaces whose files may still be there. */
  removed(): Promise<string[]>

  /** The files of a removed space are gone. */
  forget(id: string): Promise<void>
}

/** What a space does one of at a time. `hold`: a person has taken the claim over, and changes the space next. */
export type ClaimKind = 'deploy' | 'activate' | 'undeploy' | 'env' | 'restore' | 'remove' | 'hold'

/** The right to change a space. Every write under it asks whether the space still has this epoch. */
export interface Claim {
  spaceId: string
  epoch: number
}

/** The claim is held. */
export interface HeldClaim {
  heldFor: ClaimKind
  /** null: unknown, as for a claim of an older version. */
  by: Actor | null
  /** Unix milliseconds, by the store's clock. */
  sinceMs: number
}

/** Claims end with their lease, so a killed process blocks a space no longer than that. Leases go by the store's clock. */
export interface Claims {
  /**
   * Null: there is no such space. Of concurrent calls, exactly one gets the claim. A `hold` of the same user gives way.
   *
   * @param by default: unknown
   */
  take(spaceId: string, kind: ClaimKind, leaseMs: number, by?: Actor | null): Promise<Claim | HeldClaim | null>

  /**
   * Ends the claim of whatever holds it, and holds it for this user: what was under way can write nothing any more. Null, and
   * nothing changed: nothing holds it.
   */
  takeOver(
    spaceId: string,
    hold: { by: Actor | null; leaseMs: number; audit(held: HeldClaim): AuditEvent },
  ): Promise<HeldClaim | null>

  /** False: another process has taken the claim, or the space is gone. */
  renew(claim: Claim, leaseMs: number): Promise<boolean>

  /** Frees the space. Later writes of this epoch are refused. */
  release(claim: Claim): Promise<void>
}

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

/** Remembers that the sandbox has worked once, so that the host is never weaker by itself. */
export interface SandboxMark {
  isSet(): Promise<boolean>
  /** @param at Unix seconds */
  set(at: number): Promise<void>
}

/** What the host stores about its spaces. */
export interface SpaceNouns {
  spaces: Spaces
  claims: Claims
  releases: Releases
  environment: Environment
  generations: Generations
  backups: Backups
  removedTokens: RemovedTokens
  sandboxMark: SandboxMark
}

/** A variable of a space's environment. Its value is sealed, whether `encrypted` or not. */
export interface StoredVariable extends SealedVariable {
  /** No answer ever shows the value. */
  encrypted: boolean
  /** Unix seconds. */
  setAt: number
  setBy: Actor | null
}

export interface StoredEnvironment {
  key: SpaceKey
  /** By name. */
  variables: readonly StoredVariable[]
}

export interface Environment {
  /** Null: there is no such space. */
  read(spaceId: string): Promise<StoredEnvironment | null>

  /** Sets a variable or replaces it. False: the claim is lost. */
  set(claim: Claim, variable: StoredVariable, audit: AuditEvent): Promise<boolean>

  /** `absent`: there is no such variable. */
  remove(claim: Claim, name: string, audit: AuditEvent): Promise<'removed' | 'absent' | 'not_current'>

  /** Ids of the master keys that have wrapped data keys. */
  wrappingKeys(): Promise<string[]>

  /**
   * Gives all data keys to `change`, and writes the rows that it returns and the event, in one step. Returns how many rows. What
   * `change` throws undoes the step.
   */
  rewrap(change: (rows: readonly SpaceKey[]) => readonly SpaceKey[], audit: AuditEvent): Promise<number>

  /**
   * The same for the keys and values of each space. `busy`: names of spaces that another process is changing, so nothing was
   * written. Expired claims become invalid: their holders may have read the former keys.
   */
  reseal(
    change: (stored: StoredEnvironment) => { key: SpaceKey; variables: readonly SealedVariable[] },
    audit: AuditEvent,
  ): Promise<{ spaces: number } | { busy: readonly string[] }>
}

/** Which files hold the data of a space. */
interface KnownGenerations {
  /** The one in force. */
  current: number
  /** The generation that the last restore or undo replaced. Null: no generation was replaced, or it is removed. */
  former: number | null
  /** Whether the time for an undo is not over. By the store's clock. */
  isFormerKept: boolean
}

/**
 * Writes to what is in force ask for the claim; false: it is lost, and nothing changed. A draft is a generation that is being
 * filled. It needs no claim, and counts as abandoned when its lease is over. Leases go by the store's clock.
 */
export interface Generations {
  /** Null: there is no such space. */
  read(spaceId: string): Promise<KnownGenerations | null>

  /** Begins a draft, with a number that no generation of the space has had. Null: there is no such space. */
  beginDraft(spaceId: string, leaseMs: number): Promise<number | null>

  /** False: the draft was given up, or is in force. */
  renewDraft(spaceId: string, generation: number, leaseMs: number): Promise<boolean>

  /** Gives a draft up. It can be put in force no more. */
  endDraft(spaceId: string, generation: number): Promise<void>

  /** The drafts that are being filled. Those whose lease is over are given up. */
  liveDrafts(spaceId: string): Promise<number[]>

  /**
   * One step puts a generation in force. The one before is kept for that long. False also for a draft that was given up.
   *
   * @param change `isDraft`: it is one, not a former generation
   */
  switchTo(
    claim: Claim,
    change: { generation: number; isDraft: boolean; keepMs: number; audit: AuditEvent },
  ): Promise<boolean>

  /** The file of this former generation is gone. */
  forget(claim: Claim, former: number): Promise<boolean>
}

/** A backup that was sent whole. */
export interface BackupRecord {
  /** Random. */
  id: string
  spaceId: string
  /** Unix seconds: the moment that its data is of. */
  at: number
  /** Of the archive. */
  bytes: number
  /** Of the archive, hexadecimal. */
  sha256: string
  madeBy: Actor | null
}

export interface Backups {
  /** Keeps the newest ten of the space. */
  add(backup: BackupRecord): Promise<void>
  /** Newest first. */
  list(spaceId: string): Promise<BackupRecord[]>
}

/** API tokens that were removed or replaced, which no backup brings back. */
export interface RemovedTokens {
  /** Called before the token goes: a crash in between does not leave it out. */
  add(spaceId: string, id: string): Promise<void>
  /** Those of the ids that were removed. */
  among(spaceId: string, ids: readonly string[]): Promise<string[]>
}
