import type { AuditEvent } from '../../model/audit-event.js'
import type { KeySetRules } from '../../model/key-set.js'
import { applicationScope, subjectIn } from '../../model/scope.js'
import {
  type AccessRecord,
  type AccessSettings,
  isSameKeySet,
  type NetworkOutcome,
  toKeySet,
  toKeySetRow,
} from '../access-settings.js'
import { type AccessEntriesTable, type InstallationTable, scopeOf } from '../rows.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import type { Steps } from './engine/steps.js'
import { accessEntries, installation, keySets, onlyRow } from './engine/tables.js'
import type { Unit, View } from './engine/unit.js'

export function createAccessSettings(steps: Steps, scope: string): AccessSettings {
  return {
    read: () =>
      steps.read(async (view) => {
        const entries = await readEntries(view, scope)
        return { ...(await readKeySet(view, scope)), networks: networksOf(entries) }
      }),

    addNetwork: (network, event, accept) =>
      steps.step<NetworkOutcome>(async (unit) => {
        const networks = networksOf(await readEntries(unit, scope))
        if (networks.includes(network)) return 'unchanged'
        if (!accept([...networks, network].toSorted())) return 'refused'
        unit.put(accessEntries, { scope, network, created_at: Math.floor(event.atMs / 1000) })
        await recordChange(unit, subjectIn(scope, 'allow_list'), event)
        return 'changed'
      }),

    removeNetwork: (network, event, accept) =>
      steps.step<NetworkOutcome>(async (unit) => {
        const entries = await readEntries(unit, scope)
        const entry = entries.find((each) => each.network === network)
        if (!entry) return 'unchanged'
        if (!accept(networksOf(entries).filter((other) => other !== network))) return 'refused'
        unit.remove(accessEntries, [entry])
        await recordChange(unit, subjectIn(scope, 'allow_list'), event)
        return 'changed'
      }),

    setJwksUrl: (url, event, rules) =>
      steps.step(async (unit) => {
        if (!(await putKeySet(unit, scope, { url, rules: rules ?? null }))) return false
        await recordChange(unit, subjectIn(scope, 'jwks'), event)
        return true
      }),
  }
}

/** The scope is in no query, because documents of earlier releases have none. */
async function readEntries(view: View, scope: string): Promise<AccessEntriesTable[]> {
  const rows = await view.find(accessEntries, {})
  return rows.filter((row) => scopeOf(row) === scope)
}

function networksOf(entries: readonly AccessEntriesTable[]): string[] {
  return entries.map(({ network }) => network).toSorted()
}

async function readKeySet(view: View, scope: string): Promise<Omit<AccessRecord, 'networks'>> {
  if (scope === applicationScope) return { jwksUrl: (await readInstallation(view)).jwks_url }
  return toKeySet((await view.get(keySets, scope)) ?? null)
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
    unit.put(installation, { ...row, jwks_url: url })
    return true
  }
  const former = (await unit.get(keySets, scope)) ?? null
  if (isSameKeySet(former, url, rules)) return false
  if (url !== null) unit.put(keySets, toKeySetRow(scope, url, rules))
  else if (former) unit.remove(keySets, [former])
  return true
}

/** @throws {Error} when the record was deleted: without the installation's id every token would be invalid */
export async function readInstallation(view: View): Promise<InstallationTable> {
  const row = await view.get(installation, onlyRow)
  if (!row)
    throw new Error('The record of the installation is gone. Restore the collections of latchkey from a backup.')
  return row
}

/** Every process reads the changed setting again when it sees this row, and at its start, so the row may expire early. */
async function recordChange(unit: Unit, subject: string, event: AuditEvent): Promise<void> {
  await writeAudit(unit, event)
  writeChanges(unit, 'setting', [subject], Math.floor(event.atMs / 1000))
}
