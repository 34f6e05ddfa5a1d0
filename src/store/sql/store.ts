import type { AuditEvent } from '../../model/audit-event.js'
import type { Change } from '../../model/change.js'
import { applicationScope, requireScope } from '../../model/scope.js'
import { createAccessSettings } from '../access-settings.js'
import { createIdentities } from '../accounts/identities.js'
import { isLastByRole } from '../accounts/last-admin.js'
import { createPasskeys } from '../accounts/passkeys.js'
import { createSecondFactors } from '../accounts/second-factors.js'
import { createSessions } from '../accounts/sessions.js'
import { createUsers } from '../accounts/users.js'
import { createApiTokens } from '../api-tokens.js'
import type { AuditSeal } from '../audit/chain.js'
import { createAudit } from '../audit/log.js'
import { createDevices } from '../devices.js'
import { createHashKinds } from '../hash-kinds.js'
import { createKeyIds } from '../key-ids.js'
import { createOneTimeTokens } from '../one-time-tokens.js'
import { createOutbox } from '../outbox.js'
import type { ScopedParts, Store } from '../store.js'
import { readAccounts } from './account-reads.js'
import { noteApiTokenUses } from './api-token-uses.js'
import { readSnapshot } from './audit-snapshot.js'
import { createChanges } from './changes.js'
import { createCounters } from './counters.js'
import { type Connection, connect, type SqlDatabase } from './engine/connect.js'
import { isBusy, retrying } from './engine/retry.js'
import { createSteps, type LastAdminCheck, type Steps } from './engine/steps.js'
import { type FurtherKeys, keysInUse } from './keys-in-use.js'
import { migrations, migrationsTable } from './migrations/list.js'
import { migrate } from './migrations/migrate.js'
import type { MigrationSet } from './migrations/migration.js'
import { planOn } from './migrations/plan.js'
import { leaseMails } from './outbox-leases.js'
import { rotateSessions } from './rotate-sessions.js'
import { searchUsers } from './user-search.js'

export interface SqlStoreOptions {
  database: SqlDatabase
  /** Wall clock, Unix milliseconds. */
  now(): number
  /** 16 random bytes, base64url. */
  randomId(): string
  sleep(milliseconds: number): Promise<void>
  /** 0 ≤ n < 1, to spread attempts. */
  random(): number
  /** Marks the audit log by a key outside the store. */
  seal: AuditSeal
  /** Called when this process has committed a change row, so that it applies the change without waiting for the feed. */
  onChange(change: Change): void
  /** Called when this process has committed mails. */
  onMail(): void
  /** Called when this process has committed audit events. */
  onAudit?(event: AuditEvent): void
  /** Called once if PostgreSQL is behind a pooler and the URL does not say so. */
  onPooler?(): void
}

/** What the space host adds to the database of its accounts. Its migrations run after those of the store. */
export interface StoreExtension<Nouns> extends MigrationSet {
  isLastAdmin: LastAdminCheck
  /** Default: its tables name no encryption key. */
  keysInUse?: FurtherKeys
  /** Deletes at most `count` tokens that expired before `before` (Unix seconds); returns how many. Default: it has none. */
  pruneTokens?(steps: Steps, before: number, count: number): Promise<number>
  /** Each of their verbs is one step, with its audit event and change rows. */
  nouns(steps: Steps): Nouns
}

/** Opening waits longer than a step: another process may be migrating. */
const openingPatienceMs = 30_000

/**
 * Opens the database and brings its tables up to date.
 *
 * @throws {Error} that explains a fault of the folder, the file, the driver or the dialect; any other error is the driver's own
 * @example
 * const store = await openSqlStore({ database: { kind: 'sqlite', file: './latchkey.db' }, now: Date.now, … })
 */
export async function openSqlStore(options: SqlStoreOptions): Promise<Store> {
  return (await openExtended(options, none)).store
}

const none: StoreExtension<null> = { migrations: {}, migrationsTable, isLastAdmin: isLastByRole, nouns: () => null }

/**
 * The same with further tables and nouns in the same database.
 *
 * @throws as `openSqlStore`
 */
export async function openExtended<Nouns>(
  options: SqlStoreOptions,
  extension: StoreExtension<Nouns>,
): Promise<{ store: Store; nouns: Nouns }> {
  const { database, now, onPooler } = options
  const connecting = retrying(options, openingPatienceMs, () => connect(database, now, onPooler))
  const connection = await connecting.catch(explainLock)
  try {
    const installationId = await retrying(options, openingPatienceMs, () => prepare(connection, options, extension))
    const steps = createSteps({ ...options, ...connection, isLastAdmin: extension.isLastAdmin })
    return {
      store: join(steps, connection, { installationId, extension }),
      nouns: extension.nouns(steps),
    }
  } catch (error) {
    await connection.db.destroy()
    return explainLock(connection.explain(error))
  }
}

function explainLock(error: unknown): never {
  if (isBusy(error))
    throw new Error('database: another program keeps it locked. Stop that program, or name another file.', {
      cause: error,
    })
  throw error
}

async function prepare(
  { db, flavour, openPatient }: Connection,
  { randomId, seal }: SqlStoreOptions,
  further: MigrationSet,
): Promise<string> {
  const tools = { db, flavour, openPatient, randomId, seal }
  await migrate({ ...tools, migrations, table: migrationsTable })
  if (Object.keys(further.migrations).length > 0) {
    await migrate({ ...tools, migrations: further.migrations, table: further.migrationsTable })
  }
  const { id } = await db.selectFrom('latchkey_installation').select('id').executeTakeFirstOrThrow()
  return id
}

function join(
  steps: Steps,
  { db, flavour }: Connection,
  {
    installationId,
    extension,
  }: { installationId: string; extension: Pick<StoreExtension<unknown>, 'keysInUse' | 'pruneTokens'> },
): Store {
  const reads = readAccounts(steps)
  let closing: Promise<void> | null = null
  async function closeAll(): Promise<void> {
    await steps.drain()
    await db.destroy()
  }
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
    keysInUse: (now) => keysInUse(steps, now, extension.keysInUse ?? (async () => [])),
    pruneFurtherTokens: async (before, count) => (await extension.pruneTokens?.(steps, before, count)) ?? 0,
    migrations: () => steps.step((on) => planOn(on, flavour)),
    close() {
      closing ??= closeAll()
      return closing
    },
  }
}

function partsOf(steps: Steps, scope: string): ScopedParts {
  return {
    apiTokens: { ...createApiTokens(steps, scope), touch: noteApiTokenUses(steps, scope) },
    accessSettings: createAccessSettings(steps, scope),
  }
}
