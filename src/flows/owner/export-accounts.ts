import { isoTime } from '../../lib/iso-time.js'
import { adminRole, isProved } from '../../model/admin-role.js'
import type { ImportedAccount, ImportedPasskey } from '../../model/imported-account.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { toImportedPasskey } from '../passkeys/read-imported.js'
import { auditEvent } from '../steps/audit.js'

type ExportPorts = Pick<Ports, 'users' | 'passkeys' | 'audit' | 'clock' | 'random' | 'policy'>

const readAtOnce = 200

/**
 * Every account as `importAccounts` takes it, newest first: with password hashes and passkeys, without authenticator apps, linked
 * providers, sessions and tokens. The event `users_exported` is recorded before the first one.
 */
export async function* exportAccounts(
  ports: ExportPorts,
  { visitor }: { visitor: Visitor },
): AsyncGenerator<ImportedAccount> {
  await ports.audit.record(auditEvent(ports, 'users_exported', visitor))
  let after: { createdAt: number; id: string } | null = null
  do {
    const users: UserRecord[] = await ports.users.list({ query: null, after, limit: readAtOnce })
    for (const user of users) yield { ...toRecord(ports, user), passkeys: await passkeysOf(ports, user) }
    after = users.length < readAtOnce ? null : (users.at(-1) ?? null)
  } while (after !== null)
}

/** Those that sign in. A suspended one may be a copy. */
async function passkeysOf({ passkeys }: Pick<Ports, 'passkeys'>, user: UserRecord): Promise<ImportedPasskey[]> {
  if (!user.factors.some(({ kind }) => kind === 'passkey')) return []
  const found = await passkeys.list(user.id)
  return found.filter(({ suspendedAt }) => suspendedAt === null).map(toImportedPasskey)
}

function toRecord({ policy, clock }: Pick<Ports, 'policy' | 'clock'>, user: UserRecord): ImportedAccount {
  const { email, name, roles, fields, createdAt } = user
  // An import proves the address, which must not make an administrator of an account that was none.
  const mayProve = isProved(user) || !policy.adminEmails.includes(user.emailCanonical)
  return {
    email,
    name,
    // A password that must be reset would count again after the import.
    passwordHash: user.mustReset ? null : user.passwordHash,
    emailVerified: user.emailVerified && mayProve,
    roles: roles.filter((role) => role !== adminRole),
    fields,
    createdAt: isoTime(createdAt),
    disabled: isDisabled(user, clock.now()),
  }
}
