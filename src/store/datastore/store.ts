import { realMonotonic } from '../../lib/runtime.js'
import type { AuditEvent } from '../../model/audit-event.js'
import type { Change } from '../../model/change.js'
import { applicationScope, requireScope } from '../../model/scope.js'
import type { CodehooksDatastore } from '../../settings/database.js'
import { createAccessSettings } from '../access-settings.js'
import { createIdentities } from '../accounts/identities.js'
import { createPasskeys } from '../accounts/passkeys.js'
import { createSecondFactors } from '../accounts/second-factors.js'
import { createSessions } from '../accounts/sessions.js'
import { createUsers } from '../accounts/users.js'
import { createApiTokens } from '../api-tokens.js'
import { type AuditSeal, markedText } from '../audit/chain.js'
import { createAudit } from '../audit/log.js'
import { createDevices } from '../devices.js'
import { createHashKinds } from '../hash-kinds.js'
import { createKeyIds } from '../key-ids.js'
import { createOneTimeTokens } from '../one-time-tokens.js'
import { createOutbox } from '../outbox.js'
import type { ScopedParts, Store } from '../store.js'
import { auditHead, indexedFields, installation, onlyRow } from '../tables.js'
import { readAccounts } from './account-reads.js'
import { noteApiTokenUses } from './api-token-uses.js'
import { readSnapshot } from './audit-snapshot.js'
import { createChanges } from './changes.js'
import { createCounters } from './counters.js'
import type { Connection } from './engine/connection.js'
import type { Timing } from './engine/lock.js'
import { probe } from './engine/probe.js'
import { createSteps, type Steps } from './engine/steps.js'
import type { Unit } from './engine/unit.js'
import { keysInUse } from './keys-in-use.js'
import { leaseMails } from './outbox-leases.js'
import { rotateSessions } from './rotate-sessions.js'
import { searchUsers } from './user-search.js'

export interface DatastoreOptions {
  datastore: CodehooksDatastore
  /** Wall clock, Unix milliseconds. */
  now(): number
  /** 16 random bytes, base64url. */
  randomId(): string
  sleep(milliseconds: number): Promise<void>
  /** 0 ≤ n < 1, to spread attempts. */
  random(): number
  /** Marks the audit log by a key outside the store. */
  seal: AuditSeal
  /** A change row was written by this process: it acts at once, without waiting for the feed. */
  onChange(change: Change): void
  /** Mails were written by this process. */
  onMail(): void
  /** Called for each audit event that this process has written. */
  onAudit?(event: AuditEvent): void
  /** Told once: what this Datastore cannot promise. */
  onLimits(limits: DatastoreLimits): void
  /** Default: a turn ends after a second, and is taken from a dead process after one and a half. */
  timing?: Timing
}

export interface DatastoreLimits {
  /** False: `incr` does not give each caller a sum of its own, so that only one process at a time is safe. */
  manyProcesses: boolean
}

const standardTiming: Timing = { holdMs: 1_000, leaseMs: 1_500, patienceMs: 2_500, callMs: 1_000 }

/**
 * Opens the store in a codehooks Datastore: tries what it can do, makes indexes where it has them, and the two records
 * that every process shares.
 *
 * @throws {Error} in words when this Datastore cannot be built on; else what it rejects with, as the cause
 * @example
 * const store = await openDatastoreStore({ datastore: Datastore, now: Date.now, … })
 */
export async function openDatastoreStore(options: DatastoreOptions): Promise<Store> {
  const { datastore, randomId, timing = standardTiming } = options
  const { connection, incrementsApart } = await probe(datastore, { callMs: timing.callMs, randomId })
  options.onLimits({ manyProcesses: incrementsApart })
  await createIndexes(connection)
  const steps = createSteps({ ...options, connection, timing, monotonic: realMonotonic })
  return join(steps, await prepare(steps, options.seal))
}

/** One after another, as some platforms build them while they answer. */
async function createIndexes(connection: Connection): Promise<void> {
  for (const { collection, fields } of indexedFields) await connection.createIndex(collection, fields)
}

function prepare(steps: Steps, seal: AuditSeal): Promise<string> {
  return steps.transaction(async (unit) => {
    const row = await unit.get(installation, onlyRow)
    if (row) return row.id
    const id = unit.randomId()
    unit.put(installation, { slot: 1, id, hash_name: null, hash_ms: 0, jwks_url: null })
    beginLog(unit, seal)
    return id
  })
}

/** The ends of an empty log. */
function beginLog(unit: Unit, seal: AuditSeal): void {
  const start = { seq: 0, hash: unit.randomId() }
  unit.put(auditHead, {
    slot: 1,
    ...start,
    mac: seal.sealAudit(markedText('head', start)),
    floor_seq: start.seq,
    floor_hash: start.hash,
    floor_mac: seal.sealAudit(markedText('floor', start)),
  })
}

function join(steps: Steps, installationId: string): Store {
  const reads = readAccounts(steps)
  return {
    users: { ...createUsers(steps), ...searchUsers(steps), ...reads.users },
    identities: { ...createIdentities(steps), ...reads.identities },
    passkeys: { ...createPasskeys(steps), ...reads.passkeys },
    sessions: { ...createSessions(steps), ...rotateSessions(steps), ...reads.sessions },
    oneTimeTokens: createOneTimeTokens(steps),
    secondFactors: createSecondFactors(steps),
    devices: createDevices(steps),
    hashKinds: createHashKinds(steps),
    keyIds: createKeyIds(steps),
    counters: createCounters(steps),
    outbox: { ...createOutbox(steps), ...leaseMails(steps) },
    audit: createAudit(steps, () => readSnapshot(steps)),
    changes: createChanges(steps),
    ...partsOf(steps, applicationScope),
    at: (scope) => partsOf(steps, requireScope(scope)),
    installationId,
    pruneFurtherTokens: async () => 0,
    keysInUse: (now) => keysInUse(steps, now),
    migrations: async () => ({ applied: [], pending: [] }),
    // The Datastore is the platform's: it stays open.
    close: () => steps.drain(),
  }
}

function partsOf(steps: Steps, scope: string): ScopedParts {
  return {
    apiTokens: { ...createApiTokens(steps, scope), touch: noteApiTokenUses(steps, scope) },
    accessSettings: createAccessSettings(steps, scope),
  }
}
