import { textsIn } from '../lib/json-fields.js'
import type { AuditEvent } from '../model/audit-event.js'
import type { KeySetRules } from '../model/key-set.js'
import { readColumn } from './json-columns.js'
import type { KeySetsTable } from './rows.js'

/** Access settings that were added at run time, and the one that may be replaced. */
export interface AccessRecord {
  /** Address of the key set that replaces the one in the settings; null: the settings apply. */
  jwksUrl: string | null
  /** The rules that a space keeps with its URL. Absent without them, and in an application, whose settings have them. */
  jwksRules?: KeySetRules
  /** IP addresses and CIDRs, canonical, in the order of their texts. */
  networks: string[]
}

/** Decides in the step of a change whether the list may become this one. Pure and synchronous. */
export type AcceptNetworks = (networks: readonly string[]) => boolean

/** `unchanged`: the list is already so. `refused`: `accept` was false for the list that the change would give. */
export type NetworkOutcome = 'changed' | 'unchanged' | 'refused'

/**
 * Access settings of one scope that change while applications run. Each change writes a `setting` row into the change feed and
 * its audit event in the same step. A call that changes nothing writes neither.
 */
export interface AccessSettings {
  read(): Promise<AccessRecord>

  /** Changes of the list run one after the other, so `accept` sees what concurrent calls have written. */
  addNetwork(network: string, event: AuditEvent, accept: AcceptNetworks): Promise<NetworkOutcome>

  /** Like `addNetwork`. `unchanged` when the network is not on the list. */
  removeNetwork(network: string, event: AuditEvent, accept: AcceptNetworks): Promise<NetworkOutcome>

  /**
   * False when this URL is set already, in a space with these rules.
   *
   * @param rules kept in a space; an application has them in its settings
   */
  setJwksUrl(url: string | null, event: AuditEvent, rules?: KeySetRules): Promise<boolean>
}

/** The key set of a space; rules that are not given are null. */
export function toKeySetRow(scope: string, url: string, rules: KeySetRules | null): KeySetsTable {
  return {
    scope,
    url,
    issuer: rules?.issuer ?? null,
    audience: rules && JSON.stringify(rules.audience),
    algorithms: rules && JSON.stringify(rules.algorithms),
    exclusive: rules && (rules.exclusive ? 1 : 0),
  }
}

/** @throws {AuthError} `store_unavailable` for rules that cannot be read: without them too many tokens would be accepted */
export function toKeySet(row: KeySetsTable | null): Pick<AccessRecord, 'jwksUrl' | 'jwksRules'> {
  if (row === null) return { jwksUrl: null }
  const { url, issuer, audience, algorithms, exclusive } = row
  if (audience === null || algorithms === null) return { jwksUrl: url }
  const jwksRules: KeySetRules = {
    issuer,
    audience: readColumn({ audience }, 'audience', textsIn),
    algorithms: readColumn({ algorithms }, 'algorithms', textsIn),
    exclusive: Number(exclusive) === 1,
  }
  return { jwksUrl: url, jwksRules }
}

/** Whether a change would leave the key set as it is. */
export function isSameKeySet(row: KeySetsTable | null, url: string | null, rules: KeySetRules | null): boolean {
  if (row === null || url === null) return row === null && url === null
  const next = toKeySetRow(row.scope, url, rules)
  return (
    row.url === next.url &&
    row.issuer === next.issuer &&
    row.audience === next.audience &&
    row.algorithms === next.algorithms &&
    (row.exclusive === null) === (next.exclusive === null) &&
    Number(row.exclusive) === Number(next.exclusive)
  )
}
