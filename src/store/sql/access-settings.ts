import type { Kysely } from 'kysely'
import type { AuditEvent } from '../../model/audit-event.js'
import { applicationScope, subjectIn } from '../../model/scope.js'
import type { AccessSettings, NetworkOutcome } from '../access-settings.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import type { Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'

export function createAccessSettings(steps: Steps, scope: string): AccessSettings {
  return {
    read: () =>
      steps.step(async (db) => ({ jwksUrl: await readJwksUrl(db, scope), networks: await readNetworks(db, scope) })),

    addNetwork: (network, event, accept) =>
      steps.transaction<NetworkOutcome>(async (unit) => {
        await lockSettings(unit)
        const networks = await readNetworks(unit.db, scope)
        if (networks.includes(network)) return 'unchanged'
        if (!accept([...networks, network].toSorted())) return 'refused'
        const row = { scope, network, created_at: Math.floor(event.atMs / 1000) }
        await unit.db.insertInto('latchkey_access_entries').values(row).execute()
        await recordChange(unit, subjectIn(scope, 'allow_list'), event)
        return 'changed'
      }),

    removeNetwork: (network, event, accept) =>
      steps.transaction<NetworkOutcome>(async (unit) => {
        await lockSettings(unit)
        const networks = await readNetworks(unit.db, scope)
        if (!networks.includes(network)) return 'unchanged'
        if (!accept(networks.filter((other) => other !== network))) return 'refused'
        await unit.db
          .deleteFrom('latchkey_access_entries')
          .where('network', '=', network)
          .where('scope', '=', scope)
          .execute()
        await recordChange(unit, subjectIn(scope, 'allow_list'), event)
        return 'changed'
      }),

    setJwksUrl: (url, event) =>
      steps.transaction(async (unit) => {
        await lockSettings(unit)
        if ((await readJwksUrl(unit.db, scope)) === url) return false
        await writeJwksUrl(unit.db, scope, url)
        await recordChange(unit, subjectIn(scope, 'jwks'), event)
        return true
      }),
  }
}

async function readNetworks(db: Kysely<Tables>, scope: string): Promise<string[]> {
  const rows = await db.selectFrom('latchkey_access_entries').select('network').where('scope', '=', scope).execute()
  return rows.map(({ network }) => network).toSorted()
}

async function readJwksUrl(db: Kysely<Tables>, scope: string): Promise<string | null> {
  if (scope === applicationScope) {
    const row = await db.selectFrom('latchkey_installation').select('jwks_url').executeTakeFirst()
    return row?.jwks_url ?? null
  }
  const row = await db.selectFrom('latchkey_key_sets').select('url').where('scope', '=', scope).executeTakeFirst()
  return row?.url ?? null
}

async function writeJwksUrl(db: Kysely<Tables>, scope: string, url: string | null): Promise<void> {
  if (scope === applicationScope) {
    await db.updateTable('latchkey_installation').set({ jwks_url: url }).execute()
    return
  }
  await db.deleteFrom('latchkey_key_sets').where('scope', '=', scope).execute()
  if (url !== null) await db.insertInto('latchkey_key_sets').values({ scope, url }).execute()
}

/** Writing the row of the installation as it is makes every other change of access settings wait for this one. */
async function lockSettings({ db }: Unit): Promise<void> {
  await db
    .updateTable('latchkey_installation')
    .set((eb) => ({ jwks_url: eb.ref('jwks_url') }))
    .execute()
}

/** Every process reads the setting when it sees this row, and when it starts. So the row may expire early. */
async function recordChange(unit: Unit, subject: string, event: AuditEvent): Promise<void> {
  await writeAudit(unit, event)
  await writeChanges(unit, 'setting', [subject], Math.floor(event.atMs / 1000))
}
