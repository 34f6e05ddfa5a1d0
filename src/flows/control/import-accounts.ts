import { AuthError, invalidField } from '../../errors.js'
import { yieldToEventLoop } from '../../lib/runtime.js'
import { toShownPasskey } from '../../model/factors/passkey.js'
import type { ImportedRecord, ImportReport } from '../../model/imported-account.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { readImportedPasskeys } from '../passkeys/read-imported.js'
import { newUser } from '../registration/register.js'
import { auditEvent } from '../steps/audit.js'
import { type ReadAccount, readImportedAccount } from './read-imported-account.js'

export type ImportPorts = Pick<
  Ports,
  'users' | 'passkeys' | 'passwords' | 'hashKinds' | 'webauthn' | 'clock' | 'random' | 'policy'
>

type Outcome = Omit<ImportedRecord, 'index'>

/** One import. */
interface ImportRun {
  visitor: Visitor
  /** The time that the slowest kind of hash so far takes. */
  slowestMs: number
  /** Created accounts whose hash may be of the first 72 bytes of the password only. */
  bcryptHashes: number
}

/**
 * Imports accounts one after the other. It sends no mail. Each is one step of the store, so an interrupted import can simply
 * run again and skips the accounts that exist.
 *
 * The report lists the faults of single records, which stop nothing. An error of the input itself stops the import.
 *
 * @throws {AuthError} `invalid_request` unless `records` can be iterated
 */
export async function importAccounts(
  ports: ImportPorts,
  { records, visitor }: { records: unknown; visitor: Visitor },
): Promise<ImportReport> {
  if (!isIterable(records)) {
    throw invalidField('records', 'must be a list or an iterable')
  }
  const items: ImportedRecord[] = []
  const run: ImportRun = { visitor, slowestMs: 0, bcryptHashes: 0 }
  for await (const record of records) {
    items.push({ index: items.length, ...(await importRecord(ports, record, run)) })
    // A synchronous driver never yields: without this pause no other request would run before the last record.
    await yieldToEventLoop()
  }
  const count = (status: ImportedRecord['status']) => items.filter((item) => item.status === status).length
  return {
    created: count('created'),
    skipped: count('skipped'),
    failed: count('failed'),
    ...(run.bcryptHashes > 0 && { bcryptHashes: run.bcryptHashes }),
    items,
  }
}

async function importRecord(ports: ImportPorts, record: unknown, run: ImportRun): Promise<Outcome> {
  try {
    const account = readImportedAccount(record, ports.clock.now())
    const kind = account.passwordHash === null ? null : ports.passwords.inspect(account.passwordHash)
    if (typeof kind === 'string') return { status: 'failed', code: kind, path: account.hashPath }
    if (kind && kind.milliseconds > run.slowestMs) {
      // Before the first such hash is stored, failed sign-ins must take as long, here and in every process that starts.
      await ports.hashKinds.note(kind)
      ports.passwords.expect(kind)
      run.slowestMs = kind.milliseconds
    }
    const outcome = await create(ports, account, run.visitor)
    if (outcome.status === 'created' && isPlainBcrypt(account.passwordHash)) run.bcryptHashes += 1
    return outcome
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const path = error.details.errors?.[0]?.path
    return { status: 'failed', code: error.code, ...(path ? { path } : {}) }
  }
}

/** As other systems store it. Ours has a prefix and is over a text of 64 characters, so nothing of the password is cut. */
function isPlainBcrypt(hash: string | null): boolean {
  return hash?.startsWith('$2') ?? false
}

async function create(ports: ImportPorts, account: ReadAccount, visitor: Visitor): Promise<Outcome> {
  const { email, name, fields, passwordHash, emailVerified, verifiedBy, roles } = account
  const fresh = newUser(ports, { email: email.typed, canonical: email.canonical, name, fields })
  const createdAt = account.createdAt ?? fresh.createdAt
  const disabledAt = account.disabled ? ports.clock.now() : null
  const passkeys = await readImportedPasskeys(ports, account.passkeys, { userId: fresh.id, createdAt })
  const factors = passkeys.map(toShownPasskey)
  const user: UserRecord = { ...fresh, passwordHash, emailVerified, verifiedBy, roles, factors, createdAt, disabledAt }

  const facts = { userId: user.id, detail: { imported: true } }
  const audit = auditEvent(ports, 'account_created', visitor, facts)
  if (await ports.users.createWithPasskeys(user, passkeys, audit)) return { status: 'created', id: user.id }
  const existing = await ports.users.findByEmail(email.canonical)
  if (existing) return { status: 'skipped', code: 'email_taken', id: existing.id }
  for (const [index, { rpId, credentialId }] of passkeys.entries()) {
    const isTaken = await ports.passkeys.find(rpId, credentialId)
    if (isTaken) return { status: 'failed', code: 'passkey_taken', path: `passkeys[${index}]` }
  }
  return { status: 'skipped', code: 'email_taken' }
}

function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.iterator in value || Symbol.asyncIterator in value
}
