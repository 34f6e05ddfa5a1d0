import { AuthError } from '../../errors.js'
import { yieldToEventLoop } from '../../lib/runtime.js'
import type { ImportedRecord, ImportReport } from '../../model/imported-account.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { newUser } from '../registration/register.js'
import { auditEvent } from '../steps/audit.js'
import { type ReadAccount, readImportedAccount } from './read-imported-account.js'

export type ImportPorts = Pick<Ports, 'users' | 'passwords' | 'hashKinds' | 'clock' | 'random'>

type Outcome = Omit<ImportedRecord, 'index'>

/** One import. */
interface ImportRun {
  visitor: Visitor
  /** The time that the slowest kind of hash so far takes. */
  slowestMs: number
}

/**
 * Takes over accounts, one after the other, and mails nobody. Each is one step of the store: an import that was cut off
 * is run again, and what was there already is skipped.
 *
 * What is wrong with a record is in the report and stops nothing; what the input itself throws stops the import.
 *
 * @throws {AuthError} `invalid_request` unless `records` can be iterated
 */
export async function importAccounts(
  ports: ImportPorts,
  { records, visitor }: { records: unknown; visitor: Visitor },
): Promise<ImportReport> {
  if (!isIterable(records)) {
    throw new AuthError('invalid_request', { errors: [{ path: 'records', message: 'must be a list or an iterable' }] })
  }
  const items: ImportedRecord[] = []
  const run: ImportRun = { visitor, slowestMs: 0 }
  for await (const record of records) {
    items.push({ index: items.length, ...(await importRecord(ports, record, run)) })
    // A synchronous driver never yields: without this pause no other request would run before the last record.
    await yieldToEventLoop()
  }
  const count = (status: ImportedRecord['status']) => items.filter((item) => item.status === status).length
  return { created: count('created'), skipped: count('skipped'), failed: count('failed'), items }
}

async function importRecord(ports: ImportPorts, record: unknown, run: ImportRun): Promise<Outcome> {
  try {
    const account = readImportedAccount(record, ports.clock.now())
    const kind = account.passwordHash === null ? null : ports.passwords.inspect(account.passwordHash)
    if (typeof kind === 'string') return { status: 'failed', code: kind, path: account.hashPath }
    if (kind && kind.milliseconds > run.slowestMs) {
      // Failed sign-ins wait as long as by this one before the first is stored: here, and in every process that starts.
      await ports.hashKinds.note(kind)
      ports.passwords.expect(kind)
      run.slowestMs = kind.milliseconds
    }
    return await create(ports, account, run.visitor)
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    const path = error.details.errors?.[0]?.path
    return { status: 'failed', code: error.code, ...(path ? { path } : {}) }
  }
}

async function create(ports: ImportPorts, account: ReadAccount, visitor: Visitor): Promise<Outcome> {
  const { email, name, fields, passwordHash, emailVerified, roles } = account
  const fresh = newUser(ports, { email: email.typed, canonical: email.canonical, name, fields })
  const createdAt = account.createdAt ?? fresh.createdAt
  const disabledAt = account.disabled ? ports.clock.now() : null
  const user: UserRecord = { ...fresh, passwordHash, emailVerified, roles, createdAt, disabledAt }

  const facts = { userId: user.id, detail: { imported: true } }
  const audit = auditEvent(ports, 'account_created', visitor, facts)
  if (await ports.users.create(user, audit)) return { status: 'created', id: user.id }
  const existing = await ports.users.findByEmail(email.canonical)
  return { status: 'skipped', code: 'email_taken', ...(existing ? { id: existing.id } : {}) }
}

function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.iterator in value || Symbol.asyncIterator in value
}
