import type { AuditEvent } from '../../model/audit-event.js'
import type { AccessSettings } from '../access-settings.js'
import { Refused } from '../refused.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import { isUniqueViolation } from './engine/retry.js'
import type { Steps, Unit } from './engine/steps.js'

export function createAccessSettings(steps: Steps): AccessSettings {
  return {
    read: () =>
      steps.step(async (db) => {
        const row = await db.selectFrom('latchkey_installation').select('jwks_url').executeTakeFirst()
        const rows = await db.selectFrom('latchkey_access_entries').select('network').execute()
        return { jwksUrl: row?.jwks_url ?? null, networks: rows.map(({ network }) => network).toSorted() }
      }),

    addNetwork: (network, event) =>
      steps.transaction(async (unit) => {
        const row = { network, created_at: Math.floor(event.atMs / 1000) }
        await unit.db.insertInto('latchkey_access_entries').values(row).execute().catch(refuseKnown)
        await recordChange(unit, 'allow_list', event)
        return true
      }, false),

    removeNetwork: (network, event) =>
      steps.transaction(async (unit) => {
        const removal = unit.db.deleteFrom('latchkey_access_entries').where('network', '=', network)
        const { numDeletedRows } = await removal.executeTakeFirst()
        if (numDeletedRows === 0n) return false
        await recordChange(unit, 'allow_list', event)
        return true
      }),

    setJwksUrl: (url, event) =>
      steps.transaction(async (unit) => {
        const update = unit.db.updateTable('latchkey_installation').set({ jwks_url: url })
        const { numUpdatedRows } = await update
          .where((eb) =>
            url === null
              ? eb('jwks_url', 'is not', null)
              : eb.or([eb('jwks_url', 'is', null), eb('jwks_url', '<>', url)]),
          )
          .executeTakeFirst()
        if (numUpdatedRows === 0n) return false
        await recordChange(unit, 'jwks', event)
        return true
      }),
  }
}

function refuseKnown(error: unknown): never {
  throw isUniqueViolation(error) ? new Refused() : error
}

/** What was changed is read anew by whoever hears of it, and by whoever starts later: the row need not outlive the feed's window. */
async function recordChange(unit: Unit, setting: string, event: AuditEvent): Promise<void> {
  await writeAudit(unit, event)
  await writeChanges(unit, 'setting', [setting], Math.floor(event.atMs / 1000))
}
