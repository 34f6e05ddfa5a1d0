import type { Kysely } from 'kysely'
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
import type { KeySetsTable } from '../rows.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import type { Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'

export function createAccessSettings(steps: Steps, scope: string): AccessSettings {
  return {
    read: () =>
      steps.step(async (db) => ({ ...(await readKeySet(db, scope)), networks: await readNetworks(db, scope) })),

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

    setJwksUrl: (url, event, rules) =>
      steps.transaction(async (unit) => {
        await lockSettings(unit)
        if (!(await writeKeySet(unit.db, scope, { url, rules: rules ?? null }))) return false
        await recordChange(unit, subjectIn(scope, 'jwks'), event)
        return true
      }),
  }
}

async function readNetworks(db: Kysely<Tables>, scope: string): Promise<string[]> {
  const rows = await db.selectFrom('latchkey_access_entries').select('network').where('scope', '=', scope).execute()
  return rows.map(({ network }) => network).toSorted()
}

async function readKeySet(db: Kysely<Tables>, scope: string): Promise<Omit<AccessRecord, 'networks'>> {
  if (scope === applicationScope) return { jwksUrl: await readJwksUrl(db) }
  return toKeySet(await readRow(db, scope))
}

async function readJwksUrl(db: Kysely<Tables>): Promise<string | null> {
  const row = await db.selectFrom('latchkey_installation').select('jwks_url').executeTakeFirst()
  return row?.jwks_url ?? null
}

async function readRow(db: Kysely<Tables>, scope: string): Promise<KeySetsTable | null> {
  const row = await db.selectFrom('latchkey_key_sets').selectAll().where('scope', '=', scope).executeTakeFirst()
  return row ?? null
}

interface KeySetChange {
  url: string | null
  rules: KeySetRules | null
}

/** False when it is so already. */
async function writeKeySet(db: Kysely<Tables>, scope: string, { url, rules }: KeySetChange): Promise<boolean> {
  if (scope === applicationScope) {
    if ((await readJwksUrl(db)) === url) return false
    await db.updateTable('latchkey_installation').set({ jwks_url: url }).execute()
    return true
  }
  if (isSameKeySet(await readRow(db, scope), url, rules)) return false
  await db.deleteFrom('latchkey_key_sets').where('scope', '=', scope).execute()
  if (url !== null)
    await db
      .insertInto('latchkey_key_sets')
      .values(toKeySetRow(scope, url, rules))
      .execute()
  return true
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
