import { textsIn } from '../lib/json-fields.js'
import type { AuditEvent } from '../model/audit-event.js'
import type { KeySetRules } from '../model/key-set.js'
import { applicationScope, subjectIn } from '../model/scope.js'
import { readColumn } from './json-columns.js'
import type { AccessEntriesTable, InstallationTable, KeySetsTable } from './rows.js'
import { accessEntries, installation, keySets, onlyRow } from './tables.js'
import type { Steps, Unit, View } from './unit.js'

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

export function createAccessSettings(steps: Steps, scope: string): AccessSettings {
  return {
    read: () =>
      steps.read(async (view) => {
        const entries = await readEntries(view, scope)
        return { ...(await readKeySet(view, scope)), networks: networksOf(entries) }
      }),

    addNetwork: (network, event, accept) =>
      steps.transaction<NetworkOutcome>(async (unit) => {
        await lockSettings(unit)
        const networks = networksOf(await readEntries(unit, scope))
        if (networks.includes(network)) return 'unchanged'
        if (!accept([...networks, network].toSorted())) return 'refused'
        await unit.put(accessEntries, { scope, network, created_at: Math.floor(event.atMs / 1000) })
        recordChange(unit, subjectIn(scope, 'allow_list'), event)
        return 'changed'
      }),

    removeNetwork: (network, event, accept) =>
      steps.transaction<NetworkOutcome>(async (unit) => {
        await lockSettings(unit)
        const entries = await readEntries(unit, scope)
        const entry = entries.find((each) => each.network === network)
        if (!entry) return 'unchanged'
        if (!accept(networksOf(entries).filter((other) => other !== network))) return 'refused'
        await unit.remove(accessEntries, [entry])
        recordChange(unit, subjectIn(scope, 'allow_list'), event)
        return 'changed'
      }),

    setJwksUrl: (url, event, rules) =>
      steps.transaction(async (unit) => {
        await lockSettings(unit)
        if (!(await putKeySet(unit, scope, { url, rules: rules ?? null }))) return false
        recordChange(unit, subjectIn(scope, 'jwks'), event)
        return true
      }),
  }
}

function readEntries(view: View, scope: string): Promise<AccessEntriesTable[]> {
  return view.find(accessEntries, { scope })
}

/** Every change of access settings waits for the row of the installation. */
async function lockSettings(unit: Unit): Promise<void> {
  await readInstallation(unit)
}

function networksOf(entries: readonly AccessEntriesTable[]): string[] {
  return entries.map(({ network }) => network).toSorted()
}

async function readKeySet(view: View, scope: string): Promise<Omit<AccessRecord, 'networks'>> {
  if (scope === applicationScope) return { jwksUrl: (await readInstallation(view)).jwks_url }
  return toKeySet((await view.get(keySets, { scope })) ?? null)
}

interface KeySetChange {
  url: string | null
  rules: KeySetRules | null
}

/** False when it is so already. */
async function putKeySet(unit: Unit, scope: string, { url, rules }: KeySetChange): Promise<boolean> {
  if (scope === applicationScope) {
    const row = await readInstallation(unit)
    if (row.jwks_url === url) return false
    await unit.put(installation, { ...row, jwks_url: url })
    return true
  }
  const former = (await unit.get(keySets, { scope })) ?? null
  if (isSameKeySet(former, url, rules)) return false
  if (url !== null) await unit.put(keySets, toKeySetRow(scope, url, rules))
  else if (former) await unit.remove(keySets, [former])
  return true
}

/** @throws {Error} when the record was deleted: without the installation's id every token would be invalid */
export async function readInstallation(view: Pick<View, 'get'>): Promise<InstallationTable> {
  const row = await view.get(installation, onlyRow)
  if (!row) throw new Error('The record of the installation is gone. Restore the tables of latchkey from a backup.')
  return row
}

/** Every process reads the changed setting again when it sees this row, and at its start, so the row may expire early. */
function recordChange(unit: Unit, subject: string, event: AuditEvent): void {
  unit.audit(event)
  unit.change('setting', [subject], Math.floor(event.atMs / 1000))
}

/** The key set of a space; rules that are not given are null. */
function toKeySetRow(scope: string, url: string, rules: KeySetRules | null): KeySetsTable {
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
function toKeySet(row: KeySetsTable | null): Pick<AccessRecord, 'jwksUrl' | 'jwksRules'> {
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
function isSameKeySet(row: KeySetsTable | null, url: string | null, rules: KeySetRules | null): boolean {
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
