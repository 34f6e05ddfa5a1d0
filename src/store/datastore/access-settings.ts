import type { AuditEvent } from '../../model/audit-event.js'
import type { AccessSettings } from '../access-settings.js'
import type { InstallationTable } from '../rows.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import type { Steps } from './engine/steps.js'
import { accessEntries, installation, onlyRow } from './engine/tables.js'
import type { Unit, View } from './engine/unit.js'

export function createAccessSettings(steps: Steps): AccessSettings {
  return {
    read: () =>
      steps.read(async (view) => {
        const { jwks_url } = await readInstallation(view)
        const rows = await view.find(accessEntries, {})
        return { jwksUrl: jwks_url, networks: rows.map(({ network }) => network).toSorted() }
      }),

    addNetwork: (network, event) =>
      steps.step(async (unit) => {
        if (await unit.get(accessEntries, network)) return false
        unit.put(accessEntries, { network, created_at: Math.floor(event.atMs / 1000) })
        await recordChange(unit, 'allow_list', event)
        return true
      }),

    removeNetwork: (network, event) =>
      steps.step(async (unit) => {
        const entry = await unit.get(accessEntries, network)
        if (!entry) return false
        unit.remove(accessEntries, [entry])
        await recordChange(unit, 'allow_list', event)
        return true
      }),

    setJwksUrl: (url, event) =>
      steps.step(async (unit) => {
        const row = await readInstallation(unit)
        if (row.jwks_url === url) return false
        unit.put(installation, { ...row, jwks_url: url })
        await recordChange(unit, 'jwks', event)
        return true
      }),
  }
}

/** @throws {Error} when somebody has taken it away: without its id no token would be ours */
export async function readInstallation(view: View): Promise<InstallationTable> {
  const row = await view.get(installation, onlyRow)
  if (!row) throw new Error('The record of the installation is gone.')
  return row
}

/** What was changed is read anew by whoever hears of it, and by whoever starts later: the row need not outlive the feed's window. */
async function recordChange(unit: Unit, setting: string, event: AuditEvent): Promise<void> {
  await writeAudit(unit, event)
  writeChanges(unit, 'setting', [setting], Math.floor(event.atMs / 1000))
}
