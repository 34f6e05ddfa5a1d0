import type { Actor } from '../../model/actor.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { SealedVariable, SpaceKey } from '../ports.js'
import type { Claim } from './claims.js'

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
